// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What completion objects need of a domain, and no more: progress is made by
// whoever runs the test.
#pragma once

#include "util_ext/domain.h"

namespace harness {

class IdleDomain final : public util_ext::Domain, private util_ext::WaitSource {
public:
  explicit IdleDomain(fi_threading threading = FI_THREAD_DOMAIN)
      : util_ext::Domain(provider_for_logs(), threading, FI_PROGRESS_MANUAL, FI_VERSION(1, 17)) {}

  void progress() override {}
  void polled_in_vain() override {}
  util_ext::WaitSource &wait_source() override { return *this; }

private:
  int fd() override { return -1; }
  bool arm() override { return false; }
  void disarm() override {}
  static const fi_provider &provider_for_logs() {
    static const fi_provider provider = [] {
      fi_provider p{};
      p.name = "dpdkx_test";
      return p;
    }();
    return provider;
  }
};

} // namespace harness

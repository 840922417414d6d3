// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What event queues need of the fabric they belong to and hold open, and
// fi_trywait(3). A provider derives its fabric from this.
#pragma once

#include "util_ext/domain.h"

namespace util_ext {

class Fabric : public Holdable {
public:
  Fabric(const fi_provider &provider, std::uint32_t api_version)
      : provider_(provider), api_version_(api_version) {}
  Fabric(const Fabric &) = delete;
  Fabric &operator=(const Fabric &) = delete;

  // Drives what reports to event queues only (connection management). Any
  // thread, no lock held.
  virtual void progress() {}
  // What such progress waits for; null: nothing.
  virtual WaitSource *wait_source() { return nullptr; }

  std::uint32_t api_version() const { return api_version_; } // the application's
  const fi_provider &provider() const { return provider_; }

  // For fi_ops_fabric: CQs, EQs, counters and wait sets of this library.
  static int trywait(fid_fabric *, struct fid **fids, int count) noexcept;

protected:
  ~Fabric() = default;

private:
  const fi_provider &provider_;
  const std::uint32_t api_version_;
};

} // namespace util_ext

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The fabric object: one for all devices and the host link. It holds the
// settings as they were when it was opened; everything under it goes by them.
#pragma once

#include "dpdkx/settings.h"
#include "util_ext/fabric.h"

namespace dpdkx {

inline constexpr const char *fabric_name = "dpdkx";

class Fabric final : public util_ext::Fabric {
public:
  static int open(const fi_fabric_attr &, fid_fabric **, void *context);
  virtual ~Fabric() = default;
  static Fabric &from(fid_fabric *f) { return static_cast<Handle *>(f)->fabric; }
  static Fabric &from(struct fid *f) { return from(reinterpret_cast<fid_fabric *>(f)); }

  const Settings &settings() const { return settings_; }

private:
  struct Handle : fid_fabric { // what the application holds
    Fabric &fabric;
  };

  Fabric(std::uint32_t api_version, Settings settings, void *context);
  static int close(struct fid *);

  Handle handle_;
  const Settings settings_;
};

} // namespace dpdkx

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The fabric object: one for all devices and the host link. It holds the
// settings as they were when it was opened; everything under it goes by them.
//
// Whoever reads an event queue drives what reports there: passive endpoints, and
// the domains that have connected ones.
#pragma once

#include "dpdkx/base/idle.h"
#include "dpdkx/domain_wait.h"
#include "dpdkx/endpoint_set.h"
#include "dpdkx/fabric_wait.h"
#include "dpdkx/idle_service.h"
#include "dpdkx/requests.h"
#include "dpdkx/settings.h"
#include "util_ext/fabric.h"

#include <memory>
#include <mutex>
#include <vector>

namespace dpdkx {

inline constexpr const char *fabric_name = "dpdkx";

class Domain;
class Listener;
class PassiveEndpoint;

class Fabric final : public util_ext::Fabric {
public:
  static int open(const fi_fabric_attr &, fid_fabric **, void *context);
  virtual ~Fabric();
  static Fabric &from(fid_fabric *f) { return static_cast<Handle *>(f)->fabric; }
  static Fabric &from(struct fid *f) { return from(reinterpret_cast<fid_fabric *>(f)); }

  const Settings &settings() const { return settings_; }

  void progress() override;
  util_ext::WaitSource *wait_source() override { return &wait_; }

  // From the first enter() to as many leave() the domain is driven, too.
  void enter(Domain &);
  void leave(Domain &);

  // From start() to stop() a listener's endpoint is driven. 0, or a negative FI_E*.
  int start(engine::Endpoint &);
  void stop(engine::Endpoint &);
  // One that listens no more, while endpoints still answer who has called it.
  void keep(std::unique_ptr<Listener>);
  // Lets go of those of them that nobody needs any more.
  void reap();

  Requests requests; // that wait for the application

  // What an fi_info::handle may be, besides a request; null: it is no such thing (any more).
  void add_passive(PassiveEndpoint &);
  void remove_passive(PassiveEndpoint &);
  PassiveEndpoint *find_passive(const struct fid *);

private:
  struct Handle : fid_fabric { // what the application holds
    Fabric &fabric;
  };
  struct Driven {
    Domain *domain;
    unsigned entered;
  };

  Fabric(std::uint32_t api_version, Settings settings, void *context);
  static int close(struct fid *);
  bool turn_listeners();

  Handle handle_;
  const Settings settings_;

  EndpointSet listeners_;
  DomainWait listeners_wait_{listeners_};
  IdleService service_{listeners_, settings_.service_tick};
  Idle idle_;
  std::mutex mutex_; // of those below
  std::vector<Driven> domains_;
  std::vector<std::unique_ptr<Listener>> kept_;
  std::vector<PassiveEndpoint *> passive_;
  FabricWait wait_;
};

} // namespace dpdkx

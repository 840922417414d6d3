// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A domain: the endpoints that share a device (or have only the host link), and
// whoever drives them: the application's calls, or with FI_PROGRESS_AUTO a
// thread, which stands aside while calls poll. With a device, a second thread keeps peers content
// while the application computes.
#pragma once

#include "dpdkx/background.h"
#include "dpdkx/base/idle.h"
#include "dpdkx/domain_wait.h"
#include "dpdkx/endpoint_set.h"
#include "dpdkx/fabric.h"
#include "dpdkx/idle_service.h"
#include "util_ext/domain.h"
#include "util_ext/eq.h"
#include "util_ext/event.h"

#include <memory>
#include <sys/types.h>

namespace dpdkx {

inline constexpr const char *host_domain_name = "host"; // of the domain without a device

class Domain final : public util_ext::Domain {
public:
  static int open(Fabric &, const fi_info *, fid_domain **, void *context);
  virtual ~Domain();
  static Domain &from(fid_domain *f) { return static_cast<Handle *>(f)->domain; }
  static Domain &from(struct fid *f) { return from(reinterpret_cast<fid_domain *>(f)); }

  void progress() override;
  void polled_in_vain() override;
  void poller_sleeps() noexcept override;
  util_ext::WaitSource &wait_source() override { return wait_; }
  int make_work(const fi_deferred_work &, std::unique_ptr<util_ext::Work> &) override;

  // From start() to stop() the endpoint is driven. After stop() only its owner
  // uses it.
  void start(engine::Endpoint &);
  void stop(engine::Endpoint &);
  // Before stop(): drives the domain until what the endpoint has promised has
  // arrived; false: not within FI_DPDKX_LINGER. It may be another endpoint of the
  // domain that it waits for.
  bool linger(engine::Endpoint &);
  // After a call that gave the endpoint something to do; its lock is not held.
  void posted(engine::Endpoint &endpoint) {
    wait_.posted(endpoint);
    if (triggers.due()) [[unlikely]]
      triggers.run(false);
  }

  Fabric &fabric() const { return fabric_; }
  const Settings &settings() const { return fabric_.settings(); }
  link::Device *device() const { return device_.get(); }         // null: host link only
  std::uint32_t traffic_class() const { return traffic_class_; } // of endpoints without one
  // None but the application's calls, one at a time, touch its endpoints.
  bool one_thread() const { return !locking() && !device_; }
  // In a child of the process that opened it, which must not touch anything.
  bool inherited() const;

private:
  struct Handle : fid_domain { // what the application holds
    Domain &domain;
  };

  Domain(Fabric &, const fi_info &, std::shared_ptr<link::Device>, void *context);
  int start_threads();
  void stop_threads();
  bool turn_all(); // endpoints, and what that has triggered
  void run_progress();
  bool callers_drive() const;
  void stand_aside();
  void sleep_until_something();

  static int close(struct fid *);
  static int bind(struct fid *, struct fid *, std::uint64_t flags);

  Handle handle_;
  Fabric &fabric_;
  const std::shared_ptr<link::Device> device_;
  const std::uint32_t traffic_class_;
  const pid_t owner_;
  util_ext::Hold<util_ext::Eq> eq_;
  EndpointSet endpoints_;
  DomainWait wait_;
  Idle idle_;
  Idle pollers_idle_;                      // of callers, beside the thread
  std::atomic<Time::rep> caller_drove_{0}; // when one last did
  std::atomic<bool> aside_{false};         // the thread leaves it to them
  util_ext::Event recall_;                 // ... until this

  Background progress_thread_;
  std::atomic<bool> stopping_{false};
  IdleService service_;
};

// The device that the info's domain stands for: opened, or none for the host
// link. In domain_device.cpp.
int open_device_of(const Settings &, const fi_info &, std::shared_ptr<link::Device> &);

} // namespace dpdkx

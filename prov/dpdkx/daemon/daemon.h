// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// dpdkxd: the devices, the ranks that are attached to them, and the loop that
// forwards between them. One thread does all of that.
#pragma once

#include "dpdkx/base/cpus.h"
#include "dpdkx/base/idle.h"
#include "dpdkx/daemon/attachment.h"
#include "dpdkx/daemon/check_port.h"
#include "dpdkx/daemon/config.h"
#include "dpdkx/daemon/server.h"
#include "dpdkx/daemon/status.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unistd.h>

namespace dpdkx::daemon {

class Daemon {
public:
  struct Surroundings {
    // 0, or a negative errno with a text.
    std::function<int(const DeviceConfig &, std::shared_ptr<link::Device> &, std::string &error)>
        open_device;
    std::function<std::string(const Status &)> describe; // for who asks for the status: JSON
    std::string version;
  };

  // Opens the devices and listens. 0, or a negative errno with a text.
  static int create(const Config &, Surroundings, std::unique_ptr<Daemon> &, std::string &error);
  ~Daemon();
  Daemon(const Daemon &) = delete;

  void run();  // until stop(); the calling thread forwards
  void stop(); // any thread, also in a signal handler
  // Takes over what can change while ranks are attached; any thread. The rest is told in the log.
  void reload(const Config &);

  // One turn, for tests; true: it did something.
  bool turn(Time now);
  Status status(); // by the thread that runs, or while none does

private:
  struct DeviceSlot {
    std::shared_ptr<link::Device> device;
    std::vector<std::unique_ptr<Attachment>> attachments;
    std::unique_ptr<CheckPort> check_port; // null: none is wanted
    link::Port *waiter = nullptr; // whose wait_fd() stands for all, where the device collects

    template <class Each> void ports(Each &&) const; // that are to be waited on
    template <class Serve> bool poll(Time now, Serve &&) const;
  };

  Daemon(const Config &, Surroundings);
  int start(std::string &error);
  int open_check_port(DeviceSlot &, std::string &error);
  int may_attach(const link::host::Peer &who, const link::daemon::Request &,
                 std::string &error) const;
  int attach(Guest &, const link::daemon::Request &, const link::host::Fd &memory,
             std::string &error);
  void look(Time now);
  bool look_at_ranks();
  bool has_closed(Attachment &);
  void end_gone();
  void end(Attachment &);
  void forget(const Attachment &);
  void wait_on(DeviceSlot &, link::Port &);
  void sleep(Time now);
  struct Unwatched {
    bool device = false; // one can't wake
    bool room = false;   // is waited for: at a device, or in a rank's ring
  };
  bool arm_all(Unwatched &);
  void disarm_all();
  Duration blind_pause(Time now) const;
  bool look_at_devices(Time now);
  static bool watch(const link::host::Fd &epoll, int fd, std::uint64_t tag);
  void take_reload();
  void stay_on(int processor);

  Config config_;
  const Surroundings surroundings_;
  Server server_;
  std::vector<DeviceSlot> devices_;
  std::vector<link::DeviceInfo> infos_;
  const uid_t own_user_ = geteuid();
  std::size_t count_ = 0;
  std::map<uid_t, std::size_t> count_of_user_;
  std::uint64_t faults_ = 0; // ranks thrown out
  std::vector<Attachment *> gone_;

  link::host::Fd epoll_;       // sockets; a tag tells whose
  link::host::Fd sleep_epoll_; // that one, and what wakes for devices
  link::host::Fd control_;
  std::atomic<bool> stopping_{false};
  std::mutex reload_mutex_;
  std::optional<Config> reload_;
  std::optional<Pinning> pinning_; // of the thread that runs

  const Time started_;
  Time next_look_{}, busy_at_{};
  Idle idle_{0};
  std::uint64_t turns_ = 0, sleeps_ = 0;
};

} // namespace dpdkx::daemon

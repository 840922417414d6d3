// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The daemon's socket: takes requests in, one a connection, and answers them. A
// request that attaches hands its socket on.
#pragma once

#include "dpdkx/daemon/config.h"
#include "dpdkx/daemon/path_lock.h"
#include "dpdkx/daemon/undertaker.h"
#include "dpdkx/link/daemon/messages.h"
#include "dpdkx/link/host/handshake.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace dpdkx::daemon {

// Who has asked, and what came with it.
struct Guest {
  link::host::Fd socket;
  link::host::Peer who;
  Time deadline;
};

class Server {
public:
  struct Handlers {
    std::function<const std::vector<link::DeviceInfo> &()> devices;
    std::function<std::string()> status; // JSON
    // Takes the guest over and answers it, or refuses: a negative errno, with a text.
    std::function<int(Guest &, const link::daemon::Request &, const link::host::Fd &memory,
                      std::string &error)>
        attach;
  };

  explicit Server(Handlers handlers) : handlers_(std::move(handlers)) {}
  ~Server();
  Server(const Server &) = delete;

  // Listens at "@name" or "/path". 0, or a negative errno with a text: -EADDRINUSE: another daemon
  // does.
  int listen(const std::string &name, std::string &error);
  // Readable when somebody has come, or said something.
  int fd() const { return epoll_.get(); }

  // Whoever has come, and what they have said. Never blocks.
  void look(Time now);
  // Somebody hasn't said what it wants; somebody can't get in yet, of whom nothing tells.
  bool busy() const { return crowded_ || !guests_.empty(); }
  bool crowded() const { return crowded_; }
  std::uint64_t refused() const { return refused_; }
  Undertaker &undertaker() { return undertaker_; } // of whom it has handed on, too

private:
  int take_path(const std::string &path, std::string &error);
  int remove_stale(const std::string &path, std::string &error);
  bool accept(Time now);
  int accept_one(Guest &);
  bool somebody_waits() const;
  bool hear_some();
  void show_out_silent(Time now);
  int watch(const link::host::Fd &, std::uint64_t tag);
  bool make_way(const std::string &why);
  void dismiss(Guest &);
  void forget(const Guest &);
  void accept_none();
  bool hear(Guest &);
  void judge(Guest &, const link::daemon::Request &, ssize_t got,
             std::span<const link::host::Fd> passed);
  void answer(Guest &, const link::daemon::Request &, const link::host::Fd &memory);
  void refuse(const Guest &, int status, const std::string &why);
  static void send_devices(const Guest &, const std::vector<link::DeviceInfo> &);
  static void send_status(const Guest &, const std::string &);

  const Handlers handlers_;
  link::host::Fd listener_;
  link::host::Fd epoll_; // that one, and guests; a tag tells the guest's descriptor
  link::host::Fd spare_; // given up for a moment to refuse a connection when none is left
  bool crowded_ = false; // no descriptor was left for who has come
  Undertaker undertaker_;
  PathLock lock_;             // of the path
  std::string path_;          // to be removed
  std::vector<Guest> guests_; // in the order in which they have come
  std::uint64_t refused_ = 0;
};

} // namespace dpdkx::daemon

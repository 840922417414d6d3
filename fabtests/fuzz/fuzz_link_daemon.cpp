// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a rank reads of dpdkxd: answers at its socket, a status, and the rings and control words of
// memory that they share. A daemon answers and writes what the input has; the rank's port is used
// meanwhile as an engine would use it. Whatever comes, nothing may crash, leak or hang, the port
// says nothing that no port may say, it complains once, and takes up with the next daemon.
//
// The input is a series of commands, see Fuzz::step().
#include "dpdkx/base/log.h"
#include "dpdkx/daemon/status_json.h"
#include "dpdkx/link/daemon/port.h"
#include "dpdkx/link/host/unix_socket.h"
#include "fuzz/input.h"
#include "fuzz/packets.h"
#include "fuzz/scribble.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace dpdkx;
using namespace fuzz;
using namespace std::chrono_literals;
using namespace dpdkx::link::daemon;
using link::PathEvent;
using link::PathEventKind;
using link::PathId;
using link::Port;
using link::host::End;
using link::host::Fd;

constexpr std::uint32_t ring_bytes = 64 * 1024, max_datagram = 1472;

std::atomic<unsigned> complaints{0};

void take_log(LogLevel level, std::string_view text) {
  must_be_one_line(text);
  complaints += level == LogLevel::warn;
}

link::DeviceInfo device_info() {
  link::DeviceInfo info;
  info.name = info.link_name = "net0";
  info.address = {.address = net::Ip(Address::v4(0x0a010001, 0).ip), .prefix = 24};
  info.mtu = 1500;
  return info;
}

Address peer(std::uint8_t host) { return Address::v4(0x0a010002 + host % 8, 4000); }

template <class T> std::string bytes_of(const T &value) {
  return {reinterpret_cast<const char *>(&value), sizeof(value)};
}

std::string text_from(Input &in, std::size_t n) {
  const std::span<const std::byte> bytes = in.bytes(n);
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

class FakeDaemon {
public:
  FakeDaemon() {
    must(link::host::listen_at(link::host::SocketName::abstract(name_.substr(1)), listener_) == 0);
  }

  const std::string &name() const { return name_; }

  // A connection with what has been said there.
  struct Guest {
    Fd socket, memory;
    Request request{};
  };
  bool has_guest(int timeout_ms) const {
    pollfd wait{listener_.get(), POLLIN, 0};
    return ::poll(&wait, 1, timeout_ms) == 1;
  }
  Guest hear() const {
    Guest out;
    {
      const link::host::ForkHold hold;
      out.socket =
          Fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC), hold);
    }
    pollfd wait{out.socket.get(), POLLIN, 0};
    must(out.socket && ::poll(&wait, 1, 10'000) == 1);
    const ssize_t got = link::host::receive_with_memory(
        out.socket, std::as_writable_bytes(std::span(&out.request, 1)), out.memory);
    int status;
    must(got == sizeof(out.request) &&
         request_fault(out.request, sizeof(out.request), static_cast<bool>(out.memory), status) ==
             nullptr);
    return out;
  }
  static void say(const Guest &guest, const std::vector<std::string> &messages) {
    for (const std::string &message : messages)
      (void)send(guest.socket.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  // The same to who asks in `ask`, which waits for it: by another thread. Without `keeps` it
  // closes when it has said that.
  template <class F>
  std::optional<Guest> answer(const std::vector<std::string> &messages, bool keeps, F &&ask) const {
    std::optional<Guest> guest;
    std::thread thread([&] {
      must(has_guest(10'000));
      guest = hear();
      say(*guest, messages);
      if (!keeps)
        guest.reset();
    });
    ask();
    thread.join();
    return guest;
  }

private:
  const std::string name_ = "@dpdkx-fuzz-link-" + std::to_string(getpid());
  Fd listener_;
};

// Its end of what it shares with the port.
struct Attached {
  Channel channel;

  Attached() = default;
  explicit Attached(FakeDaemon::Guest &&guest) {
    link::host::Segment segment;
    must(link::host::Segment::attach(guest.memory, guest.request.ring_bytes, segment) == 0);
    channel.attach(std::move(segment), End::acceptor, guest.request.start,
                   max_record_overhead + net::max_mtu);
    channel.socket = std::move(guest.socket);
  }
  explicit operator bool() const { return channel.own_sleep != nullptr; }
  bool give(const RecordHeader &header, std::span<const std::byte> body) {
    const auto len = static_cast<std::uint32_t>(sizeof(header) + body.size());
    std::byte *const at = channel.tx.reserve(len);
    if (at == nullptr)
      return false;
    std::ranges::copy(body, put(at, header));
    channel.tx.commit(len);
    channel.wake_peer();
    return true;
  }
  void event(std::uint32_t path, std::uint16_t generation, PathEventKind kind, int error) {
    const WireEvent event{static_cast<std::uint32_t>(kind), error};
    give({static_cast<std::uint8_t>(RecordKind::event), 0, generation, path},
         std::as_bytes(std::span(&event, 1)));
  }
};

// --- one question, and its answer ---

Reply reply_from(Input &in) {
  Reply reply = make_reply(0);
  if (in.byte() & 1)
    put_text(reply.text, text_from(in, in.byte()));
  if (in.byte() % 8 == 0)
    reply.status = -in.byte();
  reply.count = in.byte() % 4;
  reply.max_datagram = max_datagram;
  spoil(in, reply);
  return reply;
}

// Whatever a daemon has said: only what can be is believed.
void must_be_sound(const link::DeviceInfo &info) {
  const bool v4 = info.address.address.is_v4();
  must(info.address.prefix <= (v4 ? 32 : 128) && info.address.address.is_host());
  must(info.mtu >= (v4 ? net::min_mtu : net::min_mtu_ipv6) && info.mtu <= net::max_mtu);
  must(!info.link_name.empty());
  for (const std::string *text : {&info.name, &info.driver, &info.link_name})
    must_be_one_line(*text);
}

void ask_devices(Input &in, const FakeDaemon &daemon) {
  std::vector<std::string> messages{bytes_of(reply_from(in))};
  for (unsigned n = in.byte() % 5; n > 0; --n) {
    DeviceEntry entry = make_entry(device_info());
    spoil(in, entry);
    messages.push_back(bytes_of(entry));
  }
  if (in.byte() % 8 == 0)
    messages.back().resize(in.byte());
  std::vector<link::DeviceInfo> devices;
  std::string error;
  int rc = 0;
  std::shared_ptr<link::Device> device;
  const bool opens = in.byte() & 1;
  daemon.answer(messages, false, [&] {
    rc = opens ? link::open_daemon_device({.socket = daemon.name()}, "net0", device, error)
               : link::daemon_devices(daemon.name(), devices, error);
  });
  must(rc <= 0 && (rc == 0) == error.empty() && (device != nullptr) == (opens && rc == 0));
  must_be_one_line(error);
  if (device)
    devices.push_back(device->info());
  if (rc == 0)
    for (const link::DeviceInfo &info : devices)
      must_be_sound(info);
}

void ask_status(Input &in, const FakeDaemon &daemon) {
  std::vector<std::string> messages{bytes_of(reply_from(in))};
  for (unsigned n = in.byte() % 3; n > 0; --n)
    messages.push_back(text_from(in, in.word()));
  std::string json, error;
  int rc = 0;
  daemon.answer(messages, false, [&] { rc = link::daemon_status(daemon.name(), json, error); });
  must(rc <= 0 && (rc == 0) == error.empty());
  must_be_one_line(error);
}

void read_status(std::string_view text) {
  daemon::Status status;
  std::string error;
  const bool understood = daemon::status_from_json(text, status, error);
  must(understood == error.empty());
  (void)daemon::indented_json(text);
  if (!understood)
    return;
  daemon::Status again;
  must(daemon::status_from_json(daemon::status_to_json(status), again, error));
  must(again.devices.size() == status.devices.size());
}

// --- a port ---

class Fuzz {
public:
  Fuzz(Input &in, const FakeDaemon &daemon) : in_(in), daemon_(daemon) {}

  void run() {
    DaemonDevice device({.socket = daemon_.name(), .ring_bytes = ring_bytes}, device_info());
    Reply reply = reply_from(in_);
    reply.count = 0;
    std::string error;
    int rc = 0;
    std::optional<FakeDaemon::Guest> guest = daemon_.answer({bytes_of(reply)}, true, [&] {
      rc = device.open_port(Address::v4(0, 4000), {}, port_, error);
    });
    must((rc == 0) == error.empty() && (rc == 0) == (port_ != nullptr));
    must_be_one_line(error);
    if (rc != 0)
      return;
    must(reply.status == 0 && port_->traits().max_datagram >= net::min_mtu - 28 &&
         port_->traits().max_datagram <= net::max_mtu - 28);
    daemons_ = 1;
    end_ = Attached(std::move(*guest));
    if (in_.byte() & 1)
      must(port_->wait_fd() >= 0);
    for (unsigned steps = 0; steps < 300 && !in_.empty(); ++steps)
      step();
    take_up();
  }

private:
  struct Path {
    bool up = false, failed = false;
    std::uint16_t generation = 0; // as the port has told the daemon
  };

  void step() {
    switch (in_.byte() % 16) {
    case 0:
      wait(Duration(std::int64_t{1} << in_.byte() % 34));
      break;
    case 1:
      open_path();
      break;
    case 2:
      use_path();
      break;
    case 3:
      send_datagrams();
      break;
    case 4:
      poll_some();
      break;
    case 5:
      sleep();
      break;
    case 6:
      hear_port();
      break;
    case 7:
      bring_up();
      break;
    case 8:
      give_record();
      break;
    case 9:
      give_many();
      break;
    case 10:
      scribble();
      break;
    case 11:
      write_word();
      break;
    case 12:
      say();
      break;
    case 13:
      end_ = {};
      break;
    case 14:
      answer();
      break;
    default:
      give_stranger();
    }
  }

  // --- the rank ---

  void wait(Duration d) {
    now_ += d;
    PathEvent events[8];
    const unsigned n = port_->poll_events(events, 1 + in_.byte() % 8, now_);
    for (unsigned i = 0; i < n; ++i) {
      must(paths_.count(events[i].path) == 1);
      Path &path = paths_[events[i].path];
      must(!path.up && !path.failed); // is told once, whatever the daemon does
      path.up = events[i].kind == PathEventKind::up;
      path.failed = events[i].kind == PathEventKind::failed;
      must(path.up || (path.failed && events[i].error < 0));
    }
  }

  void open_path() {
    PathId id;
    if (paths_.size() < 32 && port_->open_path(peer(in_.byte()), id) == 0)
      must(paths_.emplace(id, Path{}).second);
  }

  PathId some_path() { // of those that are open
    auto at = paths_.begin();
    std::advance(at, in_.byte() % paths_.size());
    return at->first;
  }

  void use_path() {
    if (paths_.empty())
      return;
    const PathId id = some_path();
    switch (in_.byte() % 4) {
    case 0:
      port_->close_path(id);
      paths_.erase(id);
      break;
    case 1:
      port_->note_session(id, in_.byte(), in_.byte());
      break;
    case 2:
      port_->set_bulk_port(id, in_.byte());
      break;
    default:
      must(!port_->peer_address(id).is_any());
    }
  }

  void send_datagrams() {
    if (paths_.empty())
      return;
    const PathId id = some_path();
    const std::uint8_t how = in_.byte();
    const std::uint32_t len = in_.word() % (port_->traits().max_datagram + 1);
    for (unsigned n = how & 1 ? in_.byte() : 1; n > 0; --n) {
      link::TxRoom room = port_->reserve(id, len);
      if (room.data == nullptr)
        break;
      room.bulk = how & 2;
      std::fill_n(room.data, len, std::byte{0x55});
      port_->commit(id, room, len);
    }
    port_->flush();
  }

  void poll_some() {
    link::RxDatagram got[32];
    const unsigned n = port_->poll(got, 1 + in_.byte() % 32);
    for (unsigned i = 0; i < n; ++i) {
      must(got[i].len <= net::max_mtu + max_record_overhead);
      unsigned sum = 0;
      for (std::uint32_t k = 0; k < got[i].len; ++k)
        sum += std::to_integer<unsigned>(got[i].data[k]);
      asm volatile("" : : "r"(sum));
      must(got[i].path == PathId::none || paths_.count(got[i].path) == 1);
      const Address source = port_->source(got[i]);
      must(got[i].path == PathId::none || source == port_->peer_address(got[i].path));
      link::Origin origin;
      must(port_->origin(got[i], origin) == (got[i].path == PathId::none));
      if (in_.byte() % 4 == 0)
        port_->reply(got[i], in_.bytes(in_.byte()));
      if (in_.byte() % 4 == 0)
        port_->reply_to({source, {}}, in_.bytes(in_.byte()));
    }
    if (n != 0)
      port_->release(got, n);
  }

  void sleep() {
    if (port_->wait_fd() < 0)
      return;
    port_->arm();
    (void)port_->blocked();
    port_->disarm();
  }

  // --- the daemon ---

  // What the port has told it.
  void hear_port() {
    if (!end_)
      return;
    const std::byte *data;
    std::uint32_t len;
    while (end_.channel.rx.next(data, len) == link::host::RingConsumer::Next::datagram) {
      RecordHeader header;
      if (take(data, len, header) && static_cast<RecordKind>(header.kind) == RecordKind::open)
        if (const auto path = paths_.find(PathId{header.path}); path != paths_.end())
          path->second.generation = header.generation;
    }
    end_.channel.rx.release();
    if (in_.byte() & 1)
      end_.channel.sleep();
  }

  void bring_up() {
    if (!end_ || paths_.empty())
      return;
    const PathId id = some_path();
    const std::uint8_t how = in_.byte();
    end_.event(static_cast<std::uint32_t>(id), paths_[id].generation,
               how & 1 ? PathEventKind::failed : PathEventKind::up, how & 1 ? how - 128 : 0);
  }

  RecordHeader header(RecordKind kind) {
    RecordHeader out{static_cast<std::uint8_t>(kind), 0, 0, 0};
    if (!paths_.empty()) {
      const PathId id = some_path();
      out.path = static_cast<std::uint32_t>(id);
      out.generation = paths_[id].generation;
    }
    return out;
  }

  void give_record() {
    if (!end_)
      return;
    RecordHeader header = this->header(static_cast<RecordKind>(in_.byte() % 9));
    spoil(in_, header);
    end_.give(header, in_.bytes(in_.byte()));
  }

  void give_stranger() {
    if (!end_)
      return;
    const WireOrigin from = wire_origin({peer(in_.byte()), {}});
    std::string body = bytes_of(from) + text_from(in_, in_.byte());
    body.resize(in_.byte() % 8 ? body.size() : in_.byte());
    end_.give({static_cast<std::uint8_t>(RecordKind::stranger), 0, 0, UINT32_MAX},
              std::as_bytes(std::span(body)));
  }

  void give_many() {
    if (!end_)
      return;
    const RecordHeader header = this->header(RecordKind::data);
    const std::vector<std::byte> body(in_.word() % (net::max_mtu + 16));
    for (unsigned n = in_.byte(); n > 0 && end_.give(header, body); --n) {
    }
  }

  void scribble() {
    if (end_)
      fuzz::scribble(in_, end_.channel.segment);
  }

  void write_word() {
    if (end_)
      fuzz::write_word(in_, end_.channel.segment, End::opener, end_.channel.tx.position());
  }

  void say() {
    if (!end_)
      return;
    const std::string text = text_from(in_, 1 + in_.byte());
    (void)send(end_.channel.socket.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  // To who wants to attach again.
  void answer() {
    if (!daemon_.has_guest(0))
      return;
    FakeDaemon::Guest guest = daemon_.hear();
    const std::uint8_t how = in_.byte();
    std::vector<std::string> messages;
    for (unsigned n = how % 3; n > 0; --n)
      messages.push_back(how & 4 ? text_from(in_, in_.byte()) : bytes_of(reply_from(in_)));
    FakeDaemon::say(guest, messages);
    ++daemons_;
    if (how & 8)
      end_ = Attached(std::move(guest));
  }

  // A daemon that does what is right: whatever was before it, the port attaches to it, its paths
  // go up, and what it is given is sent.
  void take_up() {
    end_ = {};
    Input none({});
    std::swap(in_, none);
    bool attached = false;
    for (unsigned i = 0; i < 2000 && !attached; ++i) {
      wait(10ms);
      poll_some();
      while (daemon_.has_guest(0)) {
        FakeDaemon::Guest guest = daemon_.hear();
        Reply reply = make_reply(0);
        reply.max_datagram = port_->traits().max_datagram;
        FakeDaemon::say(guest, {bytes_of(reply)});
        end_ = Attached(std::move(guest));
      }
      attached = end_ && !port_->blocked();
    }
    must(attached);
    must(complaints <= daemons_ + 1); // that it is lost, once; and that another one refuses
    open_path();
    wait(10ms);
    for (std::size_t i = 0; i < paths_.size() + 4; ++i) { // an event at a time
      hear_port();
      for (const auto &[id, path] : paths_)
        end_.event(static_cast<std::uint32_t>(id), path.generation, PathEventKind::up, 0);
      poll_some();
      wait(10ms);
    }
    for (const auto &[id, path] : paths_) {
      must(path.up || path.failed);
      must(path.failed || port_->reserve(id, 1).data != nullptr);
    }
  }

  Input &in_;
  const FakeDaemon &daemon_;
  std::unique_ptr<Port> port_;
  Attached end_;
  std::map<PathId, Path> paths_;
  unsigned daemons_ = 0; // that it has been attached to
  Time now_ = SystemClock::instance().now();
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static const FakeDaemon daemon;
  if (size == 0)
    return 0;
  complaints = 0;
  set_log_sink(take_log);
  const std::span<const std::uint8_t> bytes(data + 1, size - 1);
  Input in(bytes);
  switch (data[0] % 8) {
  case 0:
    ask_devices(in, daemon);
    break;
  case 1:
    ask_status(in, daemon);
    break;
  case 2:
    read_status({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
    break;
  default:
    Fuzz(in, daemon).run();
  }
  while (daemon.has_guest(0)) // somebody who has asked in vain
    (void)daemon.hear();
  return 0;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/link_daemon/harness.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace link_daemon {

std::string fresh_name() {
  static unsigned count = 0;
  return "@dpdkx-test-" + std::to_string(getpid()) + "-" + std::to_string(count++);
}

DeviceInfo device_info() {
  DeviceInfo info;
  info.name = "net_af_packet0";
  info.driver = "net_af_packet";
  info.link_name = "net0";
  info.address = {.address = net::Ip(Address::v4(0x0a010001, 0).ip), .prefix = 24};
  info.mtu = 1500;
  return info;
}

Address peer(std::uint32_t host) { return Address::v4(0x0a010000 + host, 4000); }

std::optional<Record> Attached::next() {
  const std::byte *data = nullptr;
  std::uint32_t len = 0;
  const auto what = channel.rx.next(data, len);
  assert_true(what != host::RingConsumer::Next::corrupt);
  if (what == host::RingConsumer::Next::none)
    return std::nullopt;
  Record out;
  assert_true(take(data, len, out.header));
  out.body.assign(data, data + len);
  channel.rx.release();
  return out;
}

Record Attached::expect(RecordKind kind) {
  std::optional<Record> got = next();
  assert_true(got.has_value());
  assert_int_equal(got->header.kind, static_cast<int>(kind));
  return *got;
}

std::vector<Record> Attached::all() {
  std::vector<Record> out;
  while (std::optional<Record> got = next())
    out.push_back(*got);
  return out;
}

bool Attached::give(RecordKind kind, std::uint32_t path, std::uint16_t generation,
                    std::string_view body) {
  const auto len = static_cast<std::uint32_t>(sizeof(RecordHeader) + body.size());
  std::byte *at = channel.tx.reserve(len);
  if (at == nullptr)
    return false;
  at = put(at, RecordHeader{static_cast<std::uint8_t>(kind), 0, generation, path});
  std::memcpy(at, body.data(), body.size());
  channel.tx.commit(len);
  channel.wake_peer();
  return true;
}

void Attached::event(std::uint32_t path, std::uint16_t generation, PathEventKind kind, int error) {
  const WireEvent event{static_cast<std::uint32_t>(kind), error};
  assert_true(give(RecordKind::event, path, generation,
                   {reinterpret_cast<const char *>(&event), sizeof(event)}));
}

bool Attached::stranger(const Origin &from, std::string_view text) {
  const WireOrigin origin = wire_origin(from);
  std::string body(reinterpret_cast<const char *>(&origin), sizeof(origin));
  body += text;
  return give(RecordKind::stranger, UINT32_MAX, 0, body);
}

bool Attached::woken() {
  bool any = false;
  host::Welcome unused;
  while (host::receive_note(channel.socket, unused) == host::Note::wake)
    any = true;
  return any;
}

FakeDaemon::FakeDaemon(const std::string &name) {
  assert_int_equal(host::listen_at(host::SocketName::abstract(name.substr(1)), listener_), 0);
}

bool FakeDaemon::has_guest() const { return readable(listener_.get()); }

host::Fd FakeDaemon::accept() {
  assert_true(readable(listener_.get(), patience_ms));
  host::Fd socket;
  {
    const host::ForkHold hold;
    socket =
        host::Fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC), hold);
  }
  assert_true(static_cast<bool>(socket));
  assert_true(readable(socket.get(), patience_ms));
  return socket;
}

void FakeDaemon::turn_away(int status, std::string_view text) {
  const host::Fd socket = accept();
  const Reply reply = make_reply(status, text);
  assert_int_equal(::send(socket.get(), &reply, sizeof(reply), MSG_NOSIGNAL), sizeof(reply));
}

void FakeDaemon::hear(host::Fd &socket, Request &request, host::Fd &memory) {
  socket = accept();
  const ssize_t got =
      host::receive_with_memory(socket, std::as_writable_bytes(std::span(&request, 1)), memory);
  int status = 0;
  assert_int_equal(got, sizeof(request));
  assert_null(request_fault(request, sizeof(request), static_cast<bool>(memory), status));
}

Attached FakeDaemon::attach(std::uint32_t max_datagram) {
  Attached out;
  host::Fd socket, memory;
  hear(socket, out.request, memory);
  host::Segment segment;
  assert_int_equal(host::Segment::attach(memory, out.request.ring_bytes, segment), 0);
  out.channel.attach(std::move(segment), host::End::acceptor, out.request.start,
                     max_record_overhead + net::max_mtu);
  out.channel.socket = std::move(socket);
  Reply reply = make_reply(0);
  reply.max_datagram = max_datagram;
  assert_int_equal(::send(out.channel.socket.get(), &reply, sizeof(reply), MSG_NOSIGNAL),
                   sizeof(reply));
  return out;
}

void FakeDaemon::refuse(int status, std::string_view text) {
  host::Fd socket, memory;
  Request request;
  hear(socket, request, memory);
  const Reply reply = make_reply(status, text);
  assert_int_equal(::send(socket.get(), &reply, sizeof(reply), MSG_NOSIGNAL), sizeof(reply));
}

int open_port(DaemonDevice &device, const Address &wanted, const PortOptions &options,
              std::unique_ptr<Port> &port, std::string &error, const std::function<void()> &serve) {
  int rc = 0;
  std::thread rank([&] { rc = device.open_port(wanted, options, port, error); });
  serve();
  rank.join();
  return rc;
}

Scene::Scene(std::uint32_t ring_bytes)
    : daemon(name), device(std::make_shared<DaemonDevice>(
                        DaemonOptions{.socket = name, .ring_bytes = ring_bytes}, device_info())) {
  std::string error;
  const int rc =
      open_port(*device, Address::v4(0, 4000), {}, port, error, [&] { end = daemon->attach(); });
  if (rc != 0)
    fail_msg("%s", error.c_str());
}

std::vector<PathEvent> Scene::events() {
  now += 2ms;
  PathEvent out[64];
  return {out, out + port->poll_events(out, 64, now)};
}

std::vector<std::string> Scene::poll() {
  std::vector<std::string> out;
  RxDatagram got[8];
  while (const unsigned n = port->poll(got, 8)) {
    for (unsigned i = 0; i < n; ++i)
      out.emplace_back(reinterpret_cast<const char *>(got[i].data), got[i].len);
    port->release(got, n);
  }
  return out;
}

PathId Scene::open_up(const Address &to) {
  PathId id = PathId::none;
  assert_int_equal(port->open_path(to, id), 0);
  port->flush();
  generation_ = end.expect(RecordKind::open).header.generation;
  end.event(static_cast<std::uint32_t>(id), generation_, PathEventKind::up);
  assert_true(poll().empty());
  const std::vector<PathEvent> got = events();
  assert_int_equal(got.size(), 1);
  assert_true(got[0].kind == PathEventKind::up && got[0].path == id);
  return id;
}

bool Scene::send(PathId path, std::string_view text) {
  const auto len = static_cast<std::uint32_t>(text.size());
  const TxRoom room = port->reserve(path, len);
  if (room.data == nullptr)
    return false;
  std::memcpy(room.data, text.data(), len);
  port->commit(path, room, len);
  port->flush();
  return true;
}

void Scene::kill() {
  daemon.reset();
  end.channel = {};
}

void Scene::revive(std::uint32_t max_datagram) {
  daemon.emplace(name);
  for (int i = 0; i < 1000 && !daemon->has_guest(); ++i)
    events();
  end = daemon->attach(max_datagram);
}

bool readable(int fd, int timeout_ms) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, timeout_ms) == 1;
}

pid_t in_child(const std::function<bool()> &what) {
  const pid_t child = fork();
  if (child == 0)
    _exit(what() ? 0 : 1);
  return child;
}

bool succeeded(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

namespace {
std::mutex log_mutex;
std::vector<std::string> log_lines;
} // namespace

LogCapture::LogCapture() {
  log_lines.clear();
  set_log_sink([](LogLevel level, std::string_view text) {
    const std::scoped_lock lock(log_mutex);
    if (level == LogLevel::warn)
      log_lines.emplace_back(text);
  });
}

LogCapture::~LogCapture() { set_log_sink(nullptr); }

std::size_t LogCapture::count(std::string_view text) const {
  const std::scoped_lock lock(log_mutex);
  return static_cast<std::size_t>(std::ranges::count_if(
      log_lines, [&](const std::string &line) { return line.find(text) != std::string::npos; }));
}

} // namespace link_daemon

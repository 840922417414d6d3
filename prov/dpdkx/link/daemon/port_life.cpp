// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Attaching to the daemon, noticing that it has gone, and attaching to the next.
#include "dpdkx/link/daemon/port.h"

#include "dpdkx/base/log.h"
#include "dpdkx/link/host/unix_socket.h"
#include "dpdkx/net/describe.h"

#include <algorithm>
#include <cerrno>
#include <sys/epoll.h>

namespace dpdkx::link::daemon {

namespace {

constexpr Duration look_every = std::chrono::milliseconds(1);
constexpr Duration retry_soon = std::chrono::milliseconds(10);
constexpr Duration retry_late = std::chrono::milliseconds(200);
constexpr Duration soon = std::chrono::seconds(2); // after the loss
constexpr Duration answer_within = std::chrono::seconds(5);
constexpr Duration tell_loss_every = std::chrono::seconds(10);
constexpr Duration reopen_every = std::chrono::seconds(1);
constexpr Duration open_within = std::chrono::seconds(10); // while there is no daemon
constexpr std::uint32_t max_record = max_record_overhead + net::max_mtu;
constexpr Traits its_traits{.lossless = false,
                            .ordered = false,
                            .checksum = true,
                            .can_pull = false,
                            .max_datagram = 0, // the daemon says it
                            .acknowledges = true};

} // namespace

DaemonPort::DaemonPort(const DaemonOptions &options, const DeviceInfo &info, const Address &address,
                       std::optional<std::uint8_t> dscp)
    : options_(options), info_(info), address_(address), dscp_(dscp),
      generation_(host::fork_generation.load(std::memory_order_relaxed)), traits_(its_traits) {}

DaemonPort::~DaemonPort() {
  if (!inherited())
    flush();
}

int DaemonDevice::open_port(const Address &wanted, const PortOptions &port_options,
                            std::unique_ptr<Port> &out, std::string &error) {
  if (!wanted.is_any() && wanted.ip != info_.address.address.bytes) {
    error = to_string(wanted) + " is not the address of " + info_.link_name +
            "; allowed: " + net::to_string(info_.address.address);
    return -EADDRNOTAVAIL;
  }
  const unsigned first = wanted.port ? wanted.port : port_options.first;
  const unsigned last = wanted.port ? wanted.port : port_options.last;
  int rc = -EADDRINUSE;
  for (unsigned number = std::max(first, 1u); rc == -EADDRINUSE && number <= last; ++number) {
    const Address address = info_.address.address.with_port(static_cast<std::uint16_t>(number));
    auto port = std::make_unique<DaemonPort>(options_, info_, address, port_options.dscp);
    rc = port->start(error);
    if (rc == 0)
      out = std::move(port);
  }
  return rc;
}

int DaemonPort::start(std::string &error) {
  if (const int rc = ask_to_attach(error))
    return rc;
  Reply reply;
  if (const int rc = receive_reply(options_.socket, next_.socket, reply, error, daemon_patience))
    return rc;
  if (const char *fault = attach_reply_fault(reply)) {
    error = "dpdkxd at " + options_.socket + " says " + fault;
    return -EPROTO;
  }
  traits_.max_datagram = reply.max_datagram;
  bulk_port_ = reply.bulk_port;
  traits_.takes_joined = reply.takes_joined == 1;
  adopt_next();
  return 0;
}

// All but the answer.
int DaemonPort::ask_to_attach(std::string &error) {
  next_ = {};
  if (const int rc = connect_and_check(options_.socket, next_.socket, error))
    return rc;
  const std::uint64_t start = std::uint64_t{address_.port} * host::cache_line % options_.ring_bytes;
  host::Segment memory;
  host::Fd memfd;
  int rc = host::Segment::create(options_.ring_bytes, memory, memfd);
  if (rc == 0) {
    for (const host::End end : {host::End::opener, host::End::acceptor})
      memory.consumer_words(end).head = start;
    next_.attach(std::move(memory), host::End::opener, start, max_record);
    *next_.peer_sleep = static_cast<std::uint32_t>(host::Sleep::may_sleep);

    Request request = make_request(Ask::attach);
    put_text(request.device, info_.link_name);
    std::ranges::copy(address_.ip, request.ip);
    request.port = address_.port;
    request.has_dscp = dscp_.has_value();
    request.dscp = dscp_.value_or(0);
    request.ring_bytes = options_.ring_bytes;
    request.start = start;
    request.bulk_port = bulk_port_;
    rc = host::send_with_memory(next_.socket, std::as_bytes(std::span(&request, 1)), memfd);
  }
  if (rc != 0)
    error = "can't attach to dpdkxd at " + options_.socket + ": " +
            (rc == -EMFILE  ? "too many open files (RLIMIT_NOFILE)"
             : rc == -EFBIG ? "its rings are larger than a file may be (RLIMIT_FSIZE)"
                            : std::strerror(-rc));
  return rc;
}

// The daemon has agreed, and what the last one had sent has been polled.
void DaemonPort::adopt_next() {
  channel_ = std::move(next_);
  next_ = {};
  unreleased_ = false;
  state_ = State::attached;
  lost_at_.reset();
  told_failure_ = false;
  look_again_in(0);
  notices_.clear();
  to_reopen_.clear();
  watch_socket();
  try {
    for (std::uint32_t i = 0; i < paths_.size(); ++i) {
      if (paths_[i].state != Path::State::opening && paths_[i].state != Path::State::up)
        continue;
      tell_of(PathId{i});
    }
  } catch (const std::bad_alloc &) {
    lose("there is no memory for what it must be told");
    return;
  }
  flush();
}

// A path that the daemon doesn't know, or not any more.
void DaemonPort::tell_of(PathId id) {
  notify(RecordKind::open, id);
  if (path(id).session.local != 0)
    notify(RecordKind::session, id);
}

unsigned DaemonPort::poll_events(PathEvent *out, unsigned max, Time now) {
  if (inherited()) [[unlikely]]
    return 0;
  if (now >= next_look_)
    look(now);
  if (events_.empty()) [[likely]]
    return 0;
  const auto n = static_cast<unsigned>(std::min<std::size_t>(max, events_.size()));
  std::copy_n(events_.begin(), n, out);
  events_.erase(events_.begin(), events_.begin() + n);
  return n;
}

void DaemonPort::look(Time now) {
  next_look_ = now + look_every;
  switch (state_) {
  case State::attached:
    return look_while_attached(now);
  case State::lost:
    return look_while_lost(now);
  case State::attaching:
    return look_for_answer(now);
  }
}

void DaemonPort::look_while_attached(Time now) {
  for (;;) {
    host::Welcome unused;
    const host::Note note = host::receive_note(channel_.socket, unused);
    if (note == host::Note::none)
      break;
    if (note == host::Note::closed)
      return lose("it has closed the connection");
  }
  if (to_reopen_.empty() || now < next_reopening_)
    return;
  next_reopening_ = now + reopen_every;
  try {
    for (const PathId id : to_reopen_)
      tell_of(id);
    to_reopen_.clear();
    flush();
  } catch (const std::bad_alloc &) {
    // The next time.
  }
}

void DaemonPort::lose(const char *why) {
  if (state_ != State::attached)
    return;
  // Once, of one that comes and goes.
  const Time now = SystemClock::instance().now();
  const bool again = told_loss_ && now - *told_loss_ < tell_loss_every;
  if (!again)
    told_loss_ = now;
  log(again ? LogLevel::info : LogLevel::warn, [&] {
    return "dpdkxd at " + options_.socket + " is lost to " + to_string(address_) + ": " + why +
           "; its successor is waited for";
  });
  state_ = State::lost;
  lost_at_.reset();
  retry_at_ = {};
  next_look_ = {};
  dirty_ = false;
  notices_.clear();
  channel_.socket.reset(); // and with it, out of the epoll set
}

// What it writes is nonsense: nothing more of that is believed.
void DaemonPort::distrust(const char *why) {
  lose(why);
  channel_.own_sleep = nullptr;
  distrusted_ = true;
}

bool DaemonPort::drained() const {
  const bool over = channel_.own_sleep == nullptr; // what it sent isn't believed
  return !unreleased_ && (over || (channel_.rx.empty() && channel_.rx.released()));
}

void DaemonPort::look_while_lost(Time now) {
  if (!lost_at_) {
    lost_at_ = now;
    if (distrusted_) // it is there still, and no better than it was
      retry_at_ = now + retry_late;
  }
  if (now - *lost_at_ >= open_within)
    for (std::uint32_t i = 0; i < paths_.size(); ++i)
      if (paths_[i].state == Path::State::opening)
        fail(PathId{i}, -EHOSTUNREACH);
  if (now < retry_at_ || !drained())
    return;
  std::string error;
  if (ask_to_attach(error) != 0)
    return try_again(now, error);
  state_ = State::attaching;
  asked_at_ = now;
  look_for_answer(now);
}

void DaemonPort::look_for_answer(Time now) {
  Reply reply;
  const ssize_t got = receive_now(next_.socket, &reply, sizeof(reply));
  if (got < 0 && errno == EAGAIN) {
    if (now - asked_at_ >= answer_within)
      try_again(now, "it doesn't answer");
    return;
  }
  if (got <= 0 || !is_reply(reply, static_cast<std::size_t>(got)))
    return try_again(now, got <= 0 ? "it has closed the connection" : "it is of another version");
  if (reply.status != 0)
    return try_again(now, text_of(reply.text));
  if (const char *fault = attach_reply_fault(reply))
    return try_again(now, std::string("it says ") + fault);
  if (reply.max_datagram < traits_.max_datagram) // sessions have made theirs larger
    return try_again(now, "dpdkxd at " + options_.socket + " has come back with datagrams of " +
                              std::to_string(reply.max_datagram) + " bytes at most; needed: " +
                              std::to_string(traits_.max_datagram) + ", as before");
  log(LogLevel::info, [&] {
    return to_string(address_) + " is attached to dpdkxd at " + options_.socket + " again";
  });
  adopt_next();
}

void DaemonPort::try_again(Time now, const std::string &error) {
  state_ = State::lost;
  next_ = {};
  retry_at_ = now + (now - *lost_at_ < soon ? retry_soon : retry_late);
  // That nobody is there yet, is what is waited for.
  if (now - *lost_at_ >= soon && !std::exchange(told_failure_, true))
    log(LogLevel::warn, [&] { return to_string(address_) + " can't attach again: " + error; });
}

} // namespace dpdkx::link::daemon

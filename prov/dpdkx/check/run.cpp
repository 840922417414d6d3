// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/check/run.h"

#include "dpdkx/check/random.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace dpdkx::check {

namespace {

// An MTU of 1500 less IP and UDP.
std::uint32_t standard_of(const Address &address) { return address.is_v4() ? 1472 : 1452; }

} // namespace

Run::Run(Ports ports, const wire::KeyDigest &key, std::uint64_t seed)
    : ports_(std::move(ports)), key_(wire::probe_key(key)), id_(seed ? seed : draw()),
      responder_({.role = wire::ProbeRole::checker, .key = key_, .seed = seed}) {}

template <class F> void Run::each_port(F &&f) const {
  for (link::Port *port : {ports_.asks.get(), ports_.unasked.get(), ports_.answers.get()})
    if (port)
      f(*port);
}

std::size_t Run::add(const Address &address) {
  Prober::Plan plan;
  plan.id = id_ + hosts_.size();
  plan.key = key_;
  plan.max_datagram = ports_.asks->traits().max_datagram;
  plan.standard = standard_of(address);
  plan.second_port = ports_.unasked ? ports_.unasked->address().port : std::uint16_t{0};
  auto host = std::make_unique<Host>(Host{.address = address, .prober = Prober(plan)});
  ++open_;
  if (const int error = ports_.asks->open_path(address, host->path)) {
    host->prober.path_failed(error);
    host->path = link::PathId::none;
    finish(*host);
  } else {
    by_path_[static_cast<std::uint32_t>(host->path)] = host.get();
  }
  hosts_.push_back(std::move(host));
  return hosts_.size() - 1;
}

void Run::finish(Host &host) { open_ -= !std::exchange(host.counted, true); }

bool Run::turn(Time now) {
  bool did = false;
  if (ports_.asks)
    look_at_paths(now);
  each_port([&](link::Port &port) { did |= poll(port, now); });
  for (const auto &host : hosts_)
    did |= ask(*host, now);
  each_port([](link::Port &port) { port.flush(); });
  return did;
}

void Run::look_at_paths(Time now) {
  link::PathEvent events[16];
  const auto find = [this](link::PathId path) {
    const auto found = by_path_.find(static_cast<std::uint32_t>(path));
    return found == by_path_.end() ? nullptr : found->second;
  };
  while (const unsigned n = ports_.asks->poll_events(events, std::size(events), now))
    for (const link::PathEvent &event : std::span(events, n)) {
      Host *const host = find(event.path);
      if (host && event.kind == link::PathEventKind::up)
        host->up = true;
      if (event.kind != link::PathEventKind::failed && event.kind != link::PathEventKind::peer_gone)
        continue;
      by_path_.erase(static_cast<std::uint32_t>(event.path));
      ports_.asks->close_path(event.path);
      if (!host)
        continue;
      host->path = link::PathId::none;
      host->prober.path_failed(event.error);
      finish(*host);
    }
  for (link::Port *port : {ports_.unasked.get(), ports_.answers.get()})
    while (port && port->poll_events(events, std::size(events), now)) {
    }
}

bool Run::poll(link::Port &port, Time now) {
  link::RxDatagram burst[32];
  const unsigned n = port.poll(burst, std::size(burst));
  if (n == 0)
    return false;
  for (unsigned i = 0; i < n; ++i)
    take(port, burst[i], now);
  port.release(burst, n);
  return true;
}

void Run::take(link::Port &port, const link::RxDatagram &datagram, Time now) {
  std::span<const std::byte> in(datagram.data, datagram.len);
  const auto header = wire::decode_header(in);
  if (!header || header->type != wire::PacketType::probe ||
      !(header->flags & wire::packet_flag::checksummed) ||
      !wire::verify({datagram.data, datagram.len}))
    return;
  const auto probe = responder_.take(port, datagram, in, now);
  if (!probe)
    return;
  if (probe->kind == wire::ProbeKind::answer)
    take_answer(port, datagram, *probe, now);
  else
    take_question(port, datagram, *probe);
}

void Run::take_answer(link::Port &port, const link::RxDatagram &datagram, const wire::Probe &answer,
                      Time now) {
  const std::uint64_t index = answer.asker - id_;
  if (index >= hosts_.size())
    return;
  Host &host = *hosts_[index];
  if (port.source(datagram) == host.address)
    host.prober.answered(answer, datagram.len, &port == ports_.unasked.get(), now);
}

void Run::take_question(link::Port &port, const link::RxDatagram &datagram,
                        const wire::Probe &question) {
  const Address who = port.source(datagram);
  for (const auto &host : hosts_)
    if (host->address.ip == who.ip)
      host->prober.asked_by_host();
  if (on_question_)
    on_question_(who, question, datagram.len);
}

bool Run::ask(Host &host, Time now) {
  if (!host.up || host.counted)
    return false;
  const auto question = host.prober.next(now);
  if (host.prober.done())
    finish(host);
  if (!question)
    return false;
  const std::uint32_t len = wire::min_probe + question->padding;
  const link::TxRoom room = ports_.asks->reserve(host.path, len);
  if (!room.data)
    return false; // as if it had been lost; there was no room because others wait
  ports_.asks->commit(host.path, room, wire::encode_datagram(room.data, *question));
  return true;
}

void Run::give_up_unreached() {
  for (const auto &host : hosts_)
    if (!host->up && !host->counted) {
      host->prober.path_failed(-EHOSTUNREACH);
      finish(*host);
    }
}

Time Run::due() const {
  Time first = never;
  for (const auto &host : hosts_)
    if (host->up && !host->counted)
      first = std::min(first, host->prober.due());
  return first;
}

Result Run::result(std::size_t host) const { return hosts_[host]->prober.result(); }

std::vector<int> Run::fds() const {
  std::vector<int> out;
  bool all = true;
  each_port([&](link::Port &port) {
    const int fd = port.wait_fd();
    all &= fd >= 0;
    out.push_back(fd);
  });
  if (!all)
    out.clear();
  return out;
}

bool Run::arm() {
  bool idle = true;
  each_port([&](link::Port &port) { idle &= port.arm(); });
  return idle;
}

void Run::disarm() {
  each_port([](link::Port &port) { port.disarm(); });
}

} // namespace dpdkx::check

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/device.h"

#include "dpdkx/base/log.h"
#include "dpdkx/link/ethdev/eal.h"
#include "dpdkx/link/ethdev/port.h"

#include <algorithm>
#include <cstring>

namespace dpdkx::link {

namespace {
constexpr Duration start_retry = std::chrono::milliseconds(20);
constexpr std::uint64_t others_allowed = 256;
constexpr Duration reconnect_after = std::chrono::milliseconds(500); // a handshake takes a few
// Switches ask who listens every two minutes, and forget after twice that (RFC 3810, 9).
constexpr Duration report_interval = std::chrono::seconds(60);
constexpr Duration idle_tick = std::chrono::milliseconds(10);
} // namespace

EthdevDevice::~EthdevDevice() {
  if (nic_ && nic_->needs_farewell() && usable() && nic_->link_is_up())
    say_farewell();
}

int EthdevDevice::describe(const DeviceRequest &request, const DeviceOptions &options,
                           std::string &error) {
  request_ = request;
  options_ = options;
  return net::describe_device(request.spec, request.address, request.family, options.mtu,
                              description_, error);
}

int EthdevDevice::open(std::string &error) {
  info_.link_name = description_.link_name;
  info_.address = description_.address;
  info_.mtu = description_.mtu;
  info_.bits_per_second = description_.speed_mbps * 1000000;
  if (int rc = Nic::open(request_, options_, description_, info_, nic_, error))
    return rc;
  open_queues();
  // The kernel does for its addresses, unless af_xdp keeps the questions from it.
  answers_ = !description_.kernel_has_address || request_.spec.kind == net::DeviceKind::af_xdp;
  local_ = net::LocalSide(info_.mac, description_.address.address, description_.vlan);
  neighbours_.emplace(net::NeighbourTable::Settings{.resolve_timeout = options_.resolve_timeout});
  // Added twice, the later one holds: the setting.
  auto fixed = description_.neighbours;
  fixed.insert(fixed.end(), options_.neighbours.begin(), options_.neighbours.end());
  for (const auto &[ip, mac] : fixed)
    neighbours_->add_fixed(ip, mac);
  return 0;
}

void EthdevDevice::open_queues() {
  const QueuePlan &plan = nic_->queues();
  steering_.emplace(nic_->rules(), plan.pool, plan.rules);
  rota_.open(nic_->rule_queues_are_apart() ? plan.pool : plan.total(), plan.total());
  taken_.resize(plan.total());
  info_.steering = to_string(plan);
  log(LogLevel::info, [&] {
    auto text = info_.link_name + ": packets come in by " + info_.steering;
    if (plan.pool < options_.rx_queues || plan.rules < options_.rule_queues)
      text += "; it can't do what was asked for, " + std::to_string(options_.rx_queues) + " + " +
              std::to_string(options_.rule_queues) + " queues";
    return text + (nic_->rule_queues_are_apart() ? "" : "; it spreads all over all of them");
  });
}

bool EthdevDevice::matches(const DeviceRequest &request, const DeviceOptions &options) const {
  if (request.address != request_.address || options.mtu != options_.mtu)
    return false;
  if (request.address || request.family == request_.family)
    return true;
  net::DeviceDescription description;
  std::string error;
  return net::describe_device(request.spec, {}, request.family, options.mtu, description, error) ==
             0 &&
         description.address == description_.address;
}

// --- ports ---

int EthdevDevice::open_port(const Address &wanted, const PortOptions &options,
                            std::unique_ptr<Port> &out, std::string &error) {
  if (eal_is_parents()) {
    error = "a device can't be used after fork(); open it in the child";
    return -EPERM;
  }
  if (!wanted.is_any() && wanted.ip != local_.ip.bytes) {
    error = to_string(wanted) + " is not the address of " + info_.link_name +
            "; allowed: " + net::to_string(local_.ip);
    return -EADDRNOTAVAIL;
  }
  unsigned first = wanted.port ? wanted.port : options.first;
  unsigned last = wanted.port ? wanted.port : options.last;
  for (unsigned number = std::max(first, 1u); number <= last; ++number) {
    const auto address = local_.ip.with_port(static_cast<std::uint16_t>(number));
    auto port = std::make_unique<EthdevPort>(shared_from_this(), address,
                                             options.dscp.value_or(options_.dscp));
    int rc = add(*port, address.port);
    if (rc == 0 && description_.kernel_has_address)
      rc = port->guard_.bind(port->address());
    if (rc == 0) {
      keep_from_kernel(*port);
      open_bulk(*port, options);
      out = std::move(port);
      return 0;
    }
    if (rc != -EADDRINUSE) {
      error = "UDP port " + std::to_string(number) + " of " + net::to_string(local_.ip) +
              " can't be bound: error " + std::to_string(-rc);
      return rc;
    }
  }
  error = "FI_DPDKX_PORT_RANGE: no free UDP port at " + net::to_string(local_.ip) + " in " +
          std::to_string(first) + "-" + std::to_string(last);
  return -EADDRINUSE;
}

// Only for speed; af_xdp takes frames before the kernel sees them.
void EthdevDevice::keep_from_kernel(EthdevPort &port) {
  if (description_.interface_index == 0 || request_.spec.kind == net::DeviceKind::af_xdp)
    return;
  const int rc = port.ingress_drop_.attach(description_.interface_index, port.address());
  if (rc != 0)
    log(LogLevel::info, [&] {
      return info_.link_name + ": the kernel's IP looks at each packet too, before it drops it: " +
             "no program at ingress (" + std::strerror(-rc) +
             "); needed: Linux 6.6, CAP_BPF and CAP_NET_ADMIN, at most 64 endpoints";
    });
}

int EthdevDevice::add(EthdevPort &port, std::uint16_t number) {
  std::lock_guard lock(receive_lock_);
  if (find_port(number) != nullptr)
    return -EADDRINUSE;
  auto &page = ports_[number >> 8];
  if (!page)
    page = std::make_unique<Page>();
  open_ports_.push_back(number);
  (*page)[number & 255] = &port;
  if (filtering_)
    start_filter();
  return 0;
}

void EthdevDevice::remove(EthdevPort &port) {
  close_bulk(port);
  std::lock_guard lock(receive_lock_);
  while (const Address *group = groups_.any_of(port))
    leave_group(port, Address(*group));
  forget(port, port.address().port);
}

void EthdevDevice::forget(const EthdevPort &port, std::uint16_t number) {
  if (find_port(number) != &port)
    return;
  (*ports_[number >> 8])[number & 255] = nullptr;
  std::erase(open_ports_, number);
  if (filtering_)
    start_filter();
}

// --- queues of ports ---

// With a number from the end of the range, where endpoints that take the first free one come last.
void EthdevDevice::open_bulk(EthdevPort &port, const PortOptions &options) {
  std::lock_guard lock(steering_lock_);
  if (options.bulk_port != 0 && reserve_bulk(port, options.bulk_port)) {
    port.queue_ = steering_->claim(options.bulk_port);
    look_at_queues_in_use();
    return;
  }
  if (!steering_->active())
    return;
  for (unsigned number = options.last; number >= std::max<unsigned>(options.first, 1); --number) {
    const auto bulk = static_cast<std::uint16_t>(number);
    if (!reserve_bulk(port, bulk))
      continue;
    port.queue_ = steering_->claim(bulk);
    if (port.queue_ == Steering::no_queue)
      drop_bulk(port);
    else
      look_at_queues_in_use();
    return;
  }
}

bool EthdevDevice::reserve_bulk(EthdevPort &port, std::uint16_t number) {
  if (add(port, number) != 0)
    return false;
  port.bulk_port_ = number;
  if (!description_.kernel_has_address || port.bulk_guard_.bind(local_.ip.with_port(number)) == 0)
    return true;
  drop_bulk(port);
  return false;
}

void EthdevDevice::drop_bulk(EthdevPort &port) {
  port.bulk_guard_.release();
  std::lock_guard lock(receive_lock_);
  forget(port, std::exchange(port.bulk_port_, std::uint16_t{0}));
}

void EthdevDevice::close_bulk(EthdevPort &port) {
  if (port.bulk_port_ == 0)
    return;
  std::lock_guard lock(steering_lock_);
  steering_->release(std::exchange(port.queue_, Steering::no_queue));
  look_at_queues_in_use();
  drop_bulk(port);
}

void EthdevDevice::look_at_queues_in_use() {
  std::lock_guard lock(receive_lock_);
  rota_.set(steering_->in_use());
}

// The kernel's filter costs every frame of ours some 0.2 us, so it has to be worth it: much
// that isn't ours comes in, or would wake a sleeper.
void EthdevDevice::start_filter() {
  filtering_ = true;
  nic_->tap().filter(local_.ip, open_ports_, !groups_.empty());
}

// --- groups ---

int EthdevDevice::join(EthdevPort &port, const Address &group) {
  std::lock_guard lock(receive_lock_);
  const bool first = groups_.empty();
  if (const int rc = groups_.join(port, group, kernel_joins() ? description_.interface_index : 0))
    return rc;
  local_.groups = true;
  if (first && filtering_)
    start_filter();
  if (kernel_joins())
    return 0;
  if (first)
    nic_->take_all_groups();
  report(net::Ip::of(group), true);
  return 0;
}

void EthdevDevice::leave(EthdevPort &port, const Address &group) {
  std::lock_guard lock(receive_lock_);
  leave_group(port, group);
}

void EthdevDevice::leave_group(EthdevPort &port, const Address &group) {
  if (groups_.leave(port, group) && !kernel_joins())
    report(net::Ip::of(group), false);
  if (!groups_.empty())
    return;
  local_.groups = false;
  if (filtering_)
    start_filter();
}

void EthdevDevice::report(const net::Ip &group, bool listening) {
  send_control(
      [&](std::byte *at) { return net::write_group_report(at, local_, group, listening); });
}

void EthdevDevice::loop_back(const EthdevPort &from, const rte_mbuf *frame, const Address &group,
                             std::uint16_t payload) {
  std::lock_guard lock(receive_lock_);
  groups_.members(group, [&](EthdevPort &member) {
    auto *copy = &member == &from ? nullptr : rte_pktmbuf_copy(frame, nic_->pool(), 0, UINT32_MAX);
    if (copy == nullptr)
      return;
    strip(copy, payload);
    hand_on(copy, member);
  });
}

// --- in ---

unsigned EthdevDevice::receive(EthdevPort &port, rte_mbuf **out, unsigned max) {
  std::lock_guard lock(receive_lock_);
  unsigned n = 0;
  while (n < max && !port.inbox_.empty())
    out[n++] = port.inbox_.pop();
  if (collected_ || n == max || !usable())
    return n;
  rota_.round(port.queue_, max - n,
              [&](std::uint16_t queue, unsigned most) { return take(queue, most, &port, out, n); });
  return n;
}

// Queues with a rule have no share of their own here: which port's would it be? Each queue has a
// burst at a time, and its turn goes on with the next call.
void EthdevDevice::collect(unsigned max) {
  std::lock_guard lock(receive_lock_);
  unsigned taken = 0, before = 0, none = 0;
  do {
    before = taken;
    if (!usable())
      break;
    rota_.round(QueueRota::no_queue, std::min(max - taken, Nic::burst),
                [&](std::uint16_t queue, unsigned most) {
                  const unsigned received = take(queue, most, nullptr, nullptr, none);
                  taken += received;
                  return received;
                });
  } while (taken - before == Nic::burst && taken < max);
}

unsigned EthdevDevice::take(std::uint16_t queue, unsigned max, EthdevPort *poller, rte_mbuf **out,
                            unsigned &n) {
  rte_mbuf *packets[Nic::burst];
  const unsigned received = nic_->receive(queue, packets, max);
  for (unsigned i = 0; i < received; ++i)
    dispatch(packets[i], poller, out, n);
  taken_[queue] += received;
  return received;
}

void EthdevDevice::dispatch(rte_mbuf *packet, EthdevPort *poller, rte_mbuf **out, unsigned &n) {
  auto ip_checksum = packet->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
  auto udp_checksum = packet->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
  if (packet->next != nullptr || ip_checksum == RTE_MBUF_F_RX_IP_CKSUM_BAD ||
      udp_checksum == RTE_MBUF_F_RX_L4_CKSUM_BAD)
    return drop(packet, net::Drop::offload);
  auto &frame = parsed_;
  auto *data = rte_pktmbuf_mtod(packet, std::byte *);
  if (auto why = net::parse_frame({data, packet->data_len}, local_, frame); why != net::Drop::none)
    return drop(packet, why);
  if (frame.kind != net::FrameKind::udp) {
    rte_pktmbuf_free(packet); // `frame` has copies
    return handle_control(frame);
  }
  if (frame.to_group)
    return dispatch_to_group(packet, poller, out, n);
  auto *port = find_port(frame.port);
  if (port == nullptr)
    return drop(packet, net::Drop::other_port);
  ++ours_;
  strip(packet, frame.payload_len);
  if (port == poller)
    out[n++] = packet;
  else
    hand_on(packet, *port);
}

// To headers before the payload.
void EthdevDevice::strip(rte_mbuf *packet, std::uint16_t payload) const {
  packet->data_off = static_cast<std::uint16_t>(packet->data_off + local_.headers());
  packet->data_len = payload;
  packet->pkt_len = payload;
}

// A copy for each member but the last.
void EthdevDevice::dispatch_to_group(rte_mbuf *packet, EthdevPort *poller, rte_mbuf **out,
                                     unsigned &n) {
  EthdevPort *last = nullptr;
  const auto give = [&](rte_mbuf *one, EthdevPort &to) {
    strip(one, parsed_.payload_len);
    if (&to == poller)
      out[n++] = one;
    else
      hand_on(one, to);
  };
  groups_.members(parsed_.group.with_port(parsed_.port), [&](EthdevPort &member) {
    if (EthdevPort *before = std::exchange(last, &member))
      if (auto *copy = rte_pktmbuf_copy(packet, nic_->pool(), 0, UINT32_MAX))
        give(copy, *before);
  });
  if (last == nullptr)
    return drop(packet, net::Drop::other_ip);
  ++ours_;
  give(packet, *last);
}

void EthdevDevice::hand_on(rte_mbuf *packet, EthdevPort &to) {
  if (!to.inbox_.push(packet)) {
    ++to.inbox_dropped_;
    return drop(packet, net::Drop::inbox_full);
  }
  if (to.armed_)
    to.wake();
}

void EthdevDevice::drop(rte_mbuf *packet, net::Drop why) {
  ++drops_[static_cast<std::size_t>(why)];
  rte_pktmbuf_free(packet);
  if (++others_ > others_allowed + ours_ / 4 && !filtering_)
    start_filter();
}

void EthdevDevice::handle_control(const net::ReceivedFrame &frame) {
  switch (frame.kind) {
  case net::FrameKind::neighbour:
    return handle_neighbour(frame.neighbour);
  case net::FrameKind::unreachable:
    return handle_unreachable(frame.unreachable);
  case net::FrameKind::farewell:
    return handle_farewell(frame.farewell);
  case net::FrameKind::udp:
    return;
  }
}

void EthdevDevice::handle_neighbour(const net::NeighbourMessage &message) {
  const auto &mac = message.sender_mac;
  if (message.sender == local_.ip) {
    if (!mac.is_zero() && mac != local_.mac && !std::exchange(warned_conflict_, true))
      log(LogLevel::warn, [&] {
        return "FI_DPDKX_ADDR: " + net::to_string(local_.ip) +
               " is also used by the host with the MAC address " + net::to_string(mac) +
               "; allowed: an address of our own";
      });
    return;
  }
  bool asked = message.question && message.target == local_.ip;
  if (message.weak)
    neighbours_->learn_weakly(message.sender, mac, now_);
  else if (!message.sender.is_any() && !mac.is_zero())
    neighbours_->learn(message.sender, mac, now_,
                       asked && description_.address.contains(message.sender));
  if (asked && answers_)
    send_control([&](std::byte *at) {
      return net::write_answer(at, local_, mac.is_zero() ? message.from : mac, message.sender);
    });
}

void EthdevDevice::handle_unreachable(const net::Unreachable &icmp) {
  if (!icmp.too_big || find_port(icmp.from_port) == nullptr || std::exchange(warned_mtu_, true))
    return;
  log(LogLevel::warn, [&] {
    return "FI_DPDKX_MTU: packets of " + std::to_string(info_.mtu) + " bytes to " +
           net::to_string(icmp.to) + " don't pass a router on the way; allowed: " +
           (icmp.next_mtu ? "at most " + std::to_string(icmp.next_mtu) : std::string("less"));
  });
}

// --- out ---

unsigned EthdevDevice::transmit(rte_mbuf **packets, unsigned n) {
  std::lock_guard lock(transmit_lock_);
  unsigned sent = 0;
  while (usable() && sent < n) {
    auto now = nic_->transmit(packets + sent, n - sent);
    if (now == 0)
      break;
    sent += now;
  }
  return sent;
}

template <class Write> void EthdevDevice::send_control(Write &&write) {
  auto *packet = rte_pktmbuf_alloc(nic_->pool());
  if (packet == nullptr)
    return;
  std::uint32_t size = write(rte_pktmbuf_mtod(packet, std::byte *));
  packet->data_len = static_cast<std::uint16_t>(size);
  packet->pkt_len = size;
  if (transmit(&packet, 1) == 0)
    rte_pktmbuf_free(packet); // asked again later
}

// --- time ---

void EthdevDevice::run_tick(Time now) {
  std::lock_guard lock(receive_lock_);
  now_ = now;
  if (!is_ready(now)) {
    next_tick_ = (now + start_retry).time_since_epoch().count();
    return;
  }
  if (answers_)
    announce(now);
  for (const auto &request : neighbours_->tick(now))
    send_control(
        [&](std::byte *at) { return net::write_question(at, local_, request.to, request.ip); });
  {
    std::lock_guard transmitting(transmit_lock_);
    nic_->reclaim();
  }
  next_tick_ = std::min(neighbours_->next_tick(), now + idle_tick).time_since_epoch().count();
}

void EthdevDevice::announce(Time now) {
  // Before the first neighbour asks; reports where the kernel sends none.
  if (now >= next_report_) {
    if (local_.is_v6 && !description_.kernel_has_address)
      report(net::solicited_node(local_.ip), true);
    if (!kernel_joins())
      groups_.addresses([this](const net::Ip &group) { report(group, true); });
    next_report_ = now + report_interval;
  }
  if (!std::exchange(announced_, true))
    send_control([&](std::byte *at) { return net::write_announcement(at, local_); });
}

net::Neighbour *EthdevDevice::acquire_neighbour(const net::Ip &peer) {
  auto hop = description_.routes.next_hop(peer);
  if (!hop)
    return nullptr;
  std::lock_guard lock(receive_lock_);
  auto &neighbour = neighbours_->acquire(*hop);
  next_tick_ = Time::min().time_since_epoch().count();
  return &neighbour;
}

void EthdevDevice::release_neighbour(net::Neighbour &neighbour) {
  std::lock_guard lock(receive_lock_);
  neighbours_->release(neighbour);
}

bool EthdevDevice::resolving() {
  std::lock_guard lock(receive_lock_);
  return neighbours_->asking();
}

// --- parting ---

// A memif's memory goes from under the other end when one closes it, in the middle of a
// burst if need be. So the one that closes says so and waits for the other to keep its hands
// off. (Nothing can be done when a process is killed: memif is for tests and measurements.)
void EthdevDevice::say_farewell() {
  constexpr auto patience = std::chrono::milliseconds(100); // one that doesn't poll is safe
  const auto &clock = SystemClock::instance();
  auto end = clock.now() + patience;
  {
    std::lock_guard transmitting(transmit_lock_);
    send_farewell({.answer = false});
  }
  while (!parted_ && clock.now() < end) {
    rte_mbuf *packets[Nic::burst];
    auto n = nic_->receive(0, packets, Nic::burst);
    for (unsigned i = 0; i < n; ++i) {
      net::ReceivedFrame frame;
      const auto *data = rte_pktmbuf_mtod(packets[i], const std::byte *);
      if (net::parse_frame({data, packets[i]->data_len}, local_, frame) == net::Drop::none &&
          frame.kind == net::FrameKind::farewell)
        handle_farewell(frame.farewell);
      rte_pktmbuf_free(packets[i]);
    }
    sched_yield();
  }
}

void EthdevDevice::handle_farewell(const net::Farewell &farewell) {
  if (!nic_->needs_farewell())
    return;
  std::lock_guard transmitting(transmit_lock_); // whoever is transmitting ends first
  if (!farewell.answer)
    send_farewell({.answer = true});
  saw_link_down_ = false;
  parted_ = true;
}

void EthdevDevice::send_farewell(const net::Farewell &farewell) {
  auto *packet = rte_pktmbuf_alloc(nic_->pool());
  if (packet == nullptr)
    return;
  auto size = net::write_farewell(rte_pktmbuf_mtod(packet, std::byte *), local_, farewell);
  packet->data_len = static_cast<std::uint16_t>(size);
  packet->pkt_len = size;
  if (nic_->transmit(&packet, 1) == 0)
    rte_pktmbuf_free(packet);
}

bool EthdevDevice::is_ready(Time now) {
  if (!nic_->started()) {
    if (!nic_->try_start())
      return false;
    started_at_ = Time{};
  }
  if (started_at_ == Time{})
    started_at_ = now;
  if (nic_->needs_farewell())
    watch_link(now);
  return nic_->started();
}

void EthdevDevice::watch_link(Time now) {
  bool up = nic_->link_is_up();
  // The driver has let go of the other end's memory, and has got the next one's.
  if (up && saw_link_down_)
    parted_ = false;
  saw_link_down_ = !up || (saw_link_down_ && parted_);
  // A server that isn't quite there yet has refused us, or it has gone: the driver won't try again.
  if (!up && nic_->is_client() && now - started_at_ > reconnect_after) {
    std::lock_guard transmitting(transmit_lock_);
    nic_->stop();
  }
}

// --- sleep ---

bool EthdevDevice::arm(EthdevPort &port) {
  std::lock_guard lock(receive_lock_);
  port.armed_ = true;
  if (!filtering_)
    start_filter();
  return port.inbox_.empty();
}

void EthdevDevice::disarm(EthdevPort &port) {
  std::lock_guard lock(receive_lock_);
  port.armed_ = false;
}

std::vector<DeviceQueue> EthdevDevice::queues() const {
  std::lock_guard lock(receive_lock_);
  std::vector<DeviceQueue> all(taken_.size());
  for (std::uint32_t i = 0; i < all.size(); ++i)
    all[i] = {i, {}, i < nic_->queues().pool, taken_[i]};
  for (const std::uint16_t number : open_ports_)
    if (const EthdevPort *port = find_port(number); port->queue_ < all.size())
      all[port->queue_].owner = port->address();
  return all;
}

std::vector<std::pair<std::string, std::uint64_t>> EthdevDevice::statistics() const {
  std::vector<std::pair<std::string, std::uint64_t>> all;
  {
    std::lock_guard receiving(receive_lock_);
    std::lock_guard transmitting(transmit_lock_);
    all = nic_->statistics();
  }
  {
    std::lock_guard lock(steering_lock_);
    const Steering::Counters c = steering_->counters();
    all.emplace_back("steering_rules", c.rules);
    all.emplace_back("steering_rules_stuck", c.stuck);
    all.emplace_back("steering_rules_refused", c.refused);
    all.emplace_back("steering_queues_given", c.given);
    all.emplace_back("steering_queues_exhausted", c.exhausted);
  }
  std::lock_guard lock(receive_lock_);
  for (std::size_t i = 1; i < drops_.size(); ++i)
    all.emplace_back("dropped_" + std::string(net::to_string(static_cast<net::Drop>(i))),
                     drops_[i]);
  all.emplace_back("neighbours", neighbours_->size());
  return all;
}

} // namespace dpdkx::link

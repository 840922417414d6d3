// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sim/common/traffic.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <algorithm>
#include <cmath>

namespace sim {

namespace {

constexpr unsigned classes = 4; // 0: untagged
constexpr unsigned shuffle_block = 8;
constexpr std::uint64_t id_mask = 0xffffffff;

// The tag is {class, id}; receives ignore the id. Untagged messages carry it as
// remote CQ data.
std::uint64_t tag_of(unsigned message_class, std::uint32_t id) {
  return std::uint64_t{message_class} << 32 | id;
}

template <class T> void shuffle_blocks(std::vector<T> &v, Random &random) {
  for (std::size_t first = 0; first < v.size(); first += shuffle_block) {
    const std::size_t n = std::min<std::size_t>(shuffle_block, v.size() - first);
    for (std::size_t i = n; i > 1; --i)
      std::swap(v[first + i - 1], v[first + random.below(i)]);
  }
}

} // namespace

Traffic::Traffic(World &world, const TrafficPlan &plan)
    : world_(world), window_(plan.window), any_mask_(world.random().next()),
      messages_(plan.messages), sides_(world.size()), unsent_(plan.messages),
      unreceived_(plan.messages) {
  for (std::uint32_t id = 0; id < messages_.size(); ++id)
    plan_message(id, plan);
  for (NodeId at = 0; at < sides_.size(); ++at)
    plan_receives(at, plan.prompt);
}

bool Traffic::any_source(NodeId at, unsigned message_class) const {
  return any_mask_ >> ((at * classes + message_class) % 64) & 1;
}

void Traffic::plan_message(std::uint32_t id, const TrafficPlan &plan) {
  Random &random = world_.random();
  Message &m = messages_[id];
  m.from = static_cast<NodeId>(random.below(sides_.size()));
  do
    m.to = static_cast<NodeId>(random.below(sides_.size()));
  while (m.to == m.from && !plan.to_self && sides_.size() > 1);
  m.message_class = static_cast<unsigned>(random.below(classes));
  const auto largest = static_cast<double>(
      any_source(m.to, m.message_class) ? std::min(plan.largest_any, plan.largest) : plan.largest);
  const double u = random.unit();
  m.size = static_cast<std::size_t>(random.chance(0.5) ? u * (largest + 1)
                                                       : std::pow(largest + 1, u) - 1);
  bytes_ += m.size;
  if (m.message_class != 0)
    m.how.tag = tag_of(m.message_class, id);
  if (m.message_class == 0 || random.chance(0.2))
    m.how.data = id;
  m.how.pieces = random.between(1, 4);
  const std::uint64_t kind = random.below(20);
  if (kind == 0)
    m.how.flags = FI_DELIVERY_COMPLETE;
  else if (kind == 1)
    m.how.flags = FI_MATCH_COMPLETE;
  else if (kind == 2)
    m.how.flags = FI_TRANSMIT_COMPLETE;
  else if (kind < 5 && m.size <= world_.setup.config.inject_size)
    m.how.flags = FI_INJECT;
  sides_[m.from].to_send.push_back(id);
}

void Traffic::plan_receives(NodeId at, bool prompt) {
  Random &random = world_.random();
  Side &side = sides_[at];
  for (const Message &m : messages_) {
    if (m.to != at)
      continue;
    const bool any = any_source(at, m.message_class);
    const auto index = static_cast<std::uint32_t>(receives_.size());
    receives_.push_back({{at, m.message_class, any ? FI_ADDR_UNSPEC : m.from}, m.size});
    (any ? side.any : side.directed).push_back(index);
  }
  shuffle_blocks(side.directed, random);
  // Sizes go with the messages: a receive's, in order of posting within its criterion.
  std::map<Criterion, std::size_t> next;
  std::map<Criterion, std::vector<std::size_t>> sizes;
  std::size_t largest_any = 0;
  for (const Message &m : messages_) {
    if (m.to != at)
      continue;
    if (any_source(at, m.message_class))
      largest_any = std::max(largest_any, m.size);
    else
      sizes[{at, m.message_class, m.from}].push_back(m.size);
  }
  for (const std::uint32_t i : side.directed) {
    Receive &r = receives_[i];
    r.size = sizes[r.criterion][next[r.criterion]++] + (random.chance(0.3) ? random.below(500) : 0);
  }
  for (const std::uint32_t i : side.any)
    receives_[i].size = largest_any;
  // More than a block, so that the oldest unfinished message always has its receive.
  static constexpr unsigned depths[] = {shuffle_block + 1, 16, 48, 200};
  side.ahead = prompt ? 200 : depths[random.below(std::size(depths))];
  side.any_per_tick = prompt ? 10'000 : static_cast<unsigned>(random.between(5, 20));
}

void Traffic::push_sends(NodeId from) {
  Side &side = sides_[from];
  while (side.next_send < side.to_send.size() && side.sending < window_) {
    const std::uint32_t id = side.to_send[side.next_send];
    Message &m = messages_[id];
    const auto on_done = [this, id](Op &op, const Done &d) {
      Message &sent = messages_[id];
      if (d.err != 0 || sent.sent)
        FAIL("send of message {} from {} to {}: err {}, again {}", id, sent.from, sent.to, d.err,
             sent.sent);
      CHECK_EQ(d.flags & (FI_SEND | FI_MSG | FI_TAGGED),
               FI_SEND | (sent.how.tag ? FI_TAGGED : FI_MSG));
      sent.sent = true;
      --unsent_;
      --sides_[sent.from].sending;
      world_.forget(op);
      push_sends(sent.from);
    };
    if (!world_.try_send(from, m.to, bytes_of(m.size, id), m.how, on_done))
      return; // tick() comes back to it
    ++side.sending;
    ++side.next_send;
  }
}

bool Traffic::post(NodeId at, std::uint32_t receive, bool counted) {
  const Receive &r = receives_[receive];
  ReceiveHow how;
  if (r.criterion.message_class != 0) {
    how.tag = tag_of(r.criterion.message_class, 0);
    how.ignore = id_mask;
  }
  how.src = r.criterion.src;
  how.pieces = 1 + receive % 3;
  const auto on_done = [this, receive, at, counted](Op &op, const Done &d) {
    received(receive, op, d);
    sides_[at].receiving -= counted;
    world_.forget(op);
  };
  if (!world_.try_receive(at, r.size, how, on_done))
    return false;
  posted_[r.criterion].push_back(receive);
  return true;
}

void Traffic::tick(NodeId id) {
  Side &side = sides_[id];
  push_sends(id);
  while (side.next_directed < side.directed.size() && side.receiving < side.ahead &&
         post(id, side.directed[side.next_directed], true)) {
    ++side.next_directed;
    ++side.receiving;
  }
  for (unsigned n = side.any_per_tick; n != 0 && side.next_any < side.any.size(); --n)
    if (post(id, side.any[side.next_any], false))
      ++side.next_any;
  if (side.next_send < side.to_send.size() || side.next_directed < side.directed.size() ||
      side.next_any < side.any.size())
    world_.network().at(world_.now() + 10us + world_.random().up_to(300us),
                        [this, id] { tick(id); });
}

void Traffic::received(std::uint32_t receive, const Op &op, const Done &d) {
  Receive &r = receives_[receive];
  const bool tagged = r.criterion.message_class != 0;
  if (d.err != 0)
    FAIL("receive at {}: err {}\n{}", r.criterion.at, d.err, world_.dump());
  const std::uint64_t id = tagged ? d.tag & id_mask : d.data;
  if (id >= messages_.size())
    FAIL("receive at {}: message {} was never sent", r.criterion.at, id);
  Message &m = messages_[id];
  if (m.received)
    FAIL("message {} from {} to {} came twice", id, m.from, m.to);
  m.received = true;
  --unreceived_;
  r.got = static_cast<std::uint32_t>(id);
  CHECK_EQ(d.flags & (FI_RECV | FI_MSG | FI_TAGGED | FI_REMOTE_CQ_DATA),
           FI_RECV | (tagged ? FI_TAGGED : FI_MSG) | (m.how.data ? FI_REMOTE_CQ_DATA : 0));
  if (tagged)
    CHECK_EQ(d.tag, *m.how.tag);
  if (m.how.data)
    CHECK_EQ(d.data, *m.how.data);
  CHECK_EQ(m.to, r.criterion.at);
  CHECK_EQ(m.message_class, r.criterion.message_class);
  CHECK_EQ(d.src, m.from);
  CHECK(r.criterion.src == FI_ADDR_UNSPEC || r.criterion.src == m.from);
  CHECK_EQ(d.len, m.size);
  verify(std::span(op.memory).first(m.size), id);
  CHECK(std::all_of(op.memory.begin() + static_cast<std::ptrdiff_t>(m.size), op.memory.end(),
                    [](std::byte b) { return b == std::byte{0xa5}; }));
}

// The receives of one criterion take each sender's messages in their order.
void Traffic::check_order() const {
  for (const auto &[criterion, receives] : posted_) {
    std::map<NodeId, std::uint32_t> last;
    for (const std::uint32_t i : receives) {
      const std::uint32_t id = receives_[i].got;
      const NodeId from = messages_[id].from;
      const auto it = last.find(from);
      if (it != last.end() && it->second >= id)
        FAIL("at {}, class {}: message {} of {} matched after message {}", criterion.at,
             criterion.message_class, id, from, it->second);
      last[from] = id;
    }
  }
}

// The oldest unfinished messages, for a failure's text.
std::string Traffic::unfinished() const {
  std::string text;
  unsigned shown = 0;
  for (std::size_t id = 0; id < messages_.size() && shown < 8; ++id) {
    const Message &m = messages_[id];
    if (m.sent && m.received)
      continue;
    ++shown;
    text +=
        fmt::format("\n  message {}: {} to {}, {} bytes, class {}, flags {:#x}, {} source: {}, {}",
                    id, m.from, m.to, m.size, m.message_class, m.how.flags,
                    any_source(m.to, m.message_class) ? "any" : "one", m.sent ? "sent" : "not sent",
                    m.received ? "received" : "not received");
  }
  return text;
}

Duration Traffic::run(Duration limit) {
  const Time start = world_.now();
  world_.explain = [this] { return unfinished(); };
  for (NodeId id = 0; id < sides_.size(); ++id)
    tick(id);
  world_.run_until([&] { return unsent_ == 0 && unreceived_ == 0; }, limit, "all messages");
  const Duration took = world_.now() - start;
  world_.explain = nullptr;
  check_order();
  CHECK_EQ(world_.network().counters().misuse, 0u);
  return took;
}

} // namespace sim

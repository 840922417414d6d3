// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/session/send_window.h"

#include <algorithm>
#include <bit>
#include <new>

namespace dpdkx::session {

namespace {
constexpr std::uint32_t least_capacity = 64;
constexpr std::uint8_t unanswered_probes = 2; // then nothing is known of the path
} // namespace

void SendWindow::List::append(TxPacket *p) {
  p->next = nullptr;
  p->prev = tail;
  (tail != nullptr ? tail->next : head) = p;
  tail = p;
  ++count;
}

void SendWindow::List::remove(TxPacket *p) {
  (p->prev != nullptr ? p->prev->next : head) = p->next;
  (p->next != nullptr ? p->next->prev : tail) = p->prev;
  --count;
}

bool SendWindow::grow(PacketNumber next) {
  const std::uint32_t capacity = std::max(least_capacity, 2 * capacity_);
  std::unique_ptr<TxPacket *[]> ring(new (std::nothrow) TxPacket *[capacity]());
  if (ring == nullptr)
    return false;
  for (PacketNumber pn = oldest_; capacity_ != 0 && pn != next; ++pn)
    ring[pn.value & (capacity - 1)] = slot(pn);
  ring_ = std::move(ring);
  capacity_ = capacity;
  return true;
}

bool SendWindow::sent(TxPacket *p, PacketNumber pn, Time now) {
  if (empty()) {
    oldest_ = pn;
    answered_at_ = now;
    probes_ = 0;
    probe_ = false;
  }
  if (static_cast<std::uint32_t>(pn - oldest_) >= capacity_ && !grow(pn))
    return false;
  slot(pn) = p;
  p->pn = pn;
  p->sent_at = p->first_sent_at = now;
  p->tries = 1;
  p->lost = false;
  lane(*p).in_network.append(p);
  return true;
}

TxPacket *SendWindow::sent_first() const {
  TxPacket *const own = lanes_[0].in_network.head, *const bulk = lanes_[1].in_network.head;
  if (own == nullptr || bulk == nullptr)
    return own != nullptr ? own : bulk;
  return bulk->sent_at < own->sent_at ? bulk : own;
}

const TxPacket *SendWindow::first() const {
  return empty() ? nullptr : ring_[oldest_.value & (capacity_ - 1)];
}

std::uint32_t SendWindow::largest(PacketNumber next) const {
  std::uint32_t bytes = 0;
  for (PacketNumber pn = oldest_; !empty() && pn != next; ++pn)
    if (const TxPacket *p = ring_[pn.value & (capacity_ - 1)])
      bytes = std::max(bytes, p->bytes);
  return bytes;
}

TxPacket *SendWindow::next_resend(std::uint32_t window) const {
  return probe_ || in_network() < window ? lost_.head : nullptr;
}

void SendWindow::resent(TxPacket *p, Time now) {
  lost_.remove(p);
  p->lost = false;
  p->sent_at = now;
  p->tries = static_cast<std::uint16_t>(std::min(p->tries + 1, 0xffff));
  p->bulk = false;
  lane(*p).in_network.append(p);
  probe_ = false;
}

void SendWindow::to_lost(TxPacket *p) {
  lane(*p).in_network.remove(p);
  p->lost = true;
  lost_.append(p);
}

void SendWindow::take(PacketNumber pn, AckSink &sink, RttEstimator &rtt, Time now, Round &round,
                      AckEvent &event, TxPacket (&all_newest)[2]) {
  TxPacket *const p = slot(pn);
  if (p == nullptr)
    return;
  slot(pn) = nullptr;
  TxPacket &newest = all_newest[p->bulk];
  (p->lost ? lost_ : lane(*p).in_network).remove(p);
  ++event.acked;
  // An ack sooner than the path allows was meant for an earlier transmission;
  // so is one for a packet that was only about to be sent again.
  const bool needless = p->lost || (p->tries > 1 && now - p->sent_at < rtt.base() / 2);
  if (needless) {
    rtt.reordering_seen();
    round.lost -= round.lost != 0;
  } else if (p->sent_at > newest.sent_at || (p->sent_at == newest.sent_at && p->pn > newest.pn) ||
             newest.tries == 0) {
    newest.sent_at = p->sent_at;
    newest.pn = p->pn;
    newest.tries = p->tries;
  }
  sink.acked(p);
}

bool SendWindow::on_ack(const wire::AckBlock &a, PacketNumber next, RttEstimator &rtt,
                        const Params &params, Time now, AckSink &sink, Round &round,
                        AckEvent &event) {
  if (empty() || a.cumulative > next || a.cumulative < oldest_)
    return false;
  TxPacket newest[2];
  for (; oldest_ != a.cumulative; ++oldest_)
    take(oldest_, sink, rtt, now, round, event, newest);
  for (unsigned w = 0; w < a.sack_words; ++w)
    for (std::uint64_t bits = a.sack[w]; bits != 0; bits &= bits - 1) {
      const PacketNumber pn =
          a.cumulative + 1 + 64 * w + static_cast<unsigned>(std::countr_zero(bits));
      if (pn >= next)
        break;
      take(pn, sink, rtt, now, round, event, newest);
    }
  if (event.acked == 0)
    return true;

  answered_at_ = now;
  probes_ = 0;
  for (const TxPacket &n : newest) {
    if (n.tries == 0)
      continue;
    lanes_[&n - newest].delivered(n, now - n.sent_at);
    if (event.newest_sent_at > n.sent_at)
      continue;
    event.newest_sent_at = n.sent_at;
    // Karn: else it may answer an earlier transmission.
    event.rtt = n.tries == 1 ? now - n.sent_at : Duration::zero();
  }
  find_lost(rtt, params, now, round);
  return true;
}

void SendWindow::Lane::delivered(const TxPacket &newest, Duration took) {
  if (newest.sent_at < delivered_sent_at ||
      (newest.sent_at == delivered_sent_at && newest.pn <= delivered_pn))
    return;
  delivered_sent_at = newest.sent_at;
  delivered_pn = newest.pn;
  delivered_rtt = took;
}

Time SendWindow::Lane::given_up_at(const TxPacket &p, Duration allowance) const {
  const bool before =
      p.sent_at < delivered_sent_at || (p.sent_at == delivered_sent_at && p.pn < delivered_pn);
  return before ? p.sent_at + delivered_rtt + allowance : never;
}

void SendWindow::find_lost(const RttEstimator &rtt, const Params &params, Time now, Round &round) {
  reorder_deadline_ = never;
  for (const int i : {0, 1})
    while (TxPacket *const p = lanes_[i].in_network.head) {
      const Time at = std::min(lanes_[i].given_up_at(*p, rtt.reordering(params)),
                               lanes_[1 - i].given_up_at(*p, rtt.widest_reordering(params)));
      if (at > now) {
        reorder_deadline_ = std::min(reorder_deadline_, at);
        break;
      }
      to_lost(p);
      ++round.lost;
    }
}

Time SendWindow::deadline(const RttEstimator &rtt, const Params &params) const {
  const TxPacket *const oldest = sent_first();
  if (oldest == nullptr)
    return never;
  const Time from = std::max(oldest->sent_at, answered_at_);
  return std::min(reorder_deadline_, from + rtt.timeout(params));
}

bool SendWindow::on_time(RttEstimator &rtt, const Params &params, Round &round, Time now) {
  if (now >= reorder_deadline_)
    find_lost(rtt, params, now, round);
  TxPacket *const oldest = sent_first();
  if (oldest == nullptr || now < deadline(rtt, params))
    return false;
  to_lost(oldest);
  probe_ = true;
  answered_at_ = now;
  rtt.back_off();
  probes_ = std::min<std::uint8_t>(probes_ + 1, unanswered_probes + 1);
  return probes_ == unanswered_probes;
}

void SendWindow::restart() {
  lanes_[0] = lanes_[1] = {};
  lost_ = {};
  reorder_deadline_ = never;
}

TxPacket *SendWindow::take_all(PacketNumber next) {
  List all;
  for (PacketNumber pn = oldest_; !empty() && pn != next; ++pn)
    if (TxPacket *const p = slot(pn)) {
      slot(pn) = nullptr;
      (p->lost ? lost_ : lane(*p).in_network).remove(p);
      all.append(p);
    }
  reorder_deadline_ = never;
  return all.head;
}

} // namespace dpdkx::session

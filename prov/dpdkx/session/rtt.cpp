// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/session/rtt.h"

#include <algorithm>

namespace dpdkx::session {

namespace {

constexpr std::int64_t max_sample_ns = 0xffffffff;

std::uint16_t coarse(Time t) {
  return static_cast<std::uint16_t>(t.time_since_epoch().count() >> 30);
}
constexpr std::uint16_t coarse_lifetime = RttEstimator::base_lifetime.count() >> 30;

} // namespace

void RttEstimator::add(Duration sample, Time now) {
  const std::int64_t r = std::clamp<std::int64_t>(sample.count(), 1, max_sample_ns);
  backoff_ = 0;
  if (!measured()) {
    srtt_ns_ = static_cast<std::uint32_t>(r);
    var_ns_ = static_cast<std::uint32_t>(r / 2);
    base_ns_ = srtt_ns_;
    base_since_ = coarse(now);
    return;
  }
  const std::int64_t off = r - std::int64_t{srtt_ns_};
  const std::int64_t var = (std::int64_t{var_ns_} * 3 + std::abs(off)) / 4;
  const std::int64_t srtt = std::int64_t{srtt_ns_} + off / 8;
  var_ns_ = static_cast<std::uint32_t>(std::min(var, max_sample_ns));
  srtt_ns_ = static_cast<std::uint32_t>(std::clamp<std::int64_t>(srtt, 1, max_sample_ns));

  // A route may have become longer: the base is measured afresh now and then.
  const bool stale = static_cast<std::uint16_t>(coarse(now) - base_since_) > coarse_lifetime;
  if (stale || r <= std::int64_t{base_ns_}) {
    base_ns_ = static_cast<std::uint32_t>(r);
    base_since_ = coarse(now);
  }
}

Duration RttEstimator::ack_delay(const Params &p) const {
  // A peer that has measured allows for no more than that.
  if (!measured())
    return std::min(least_ack_delay, p.max_ack_delay);
  return std::min(std::max(srtt() / 4, least_ack_delay), p.max_ack_delay);
}

Duration RttEstimator::timeout(const Params &p) const {
  const Duration spread = srtt() + 4 * Duration(var_ns_);
  Duration t;
  if (!measured())
    t = p.initial_rto * (1 << backoff_);
  else if (backoff_ == 0)
    t = std::max({2 * srtt(), spread, p.min_rto}) + ack_delay(p);
  else
    t = (std::max({4 * srtt(), spread, p.min_rto}) + ack_delay(p)) * (1 << (backoff_ - 1));
  return std::min(t, p.max_rto);
}

Duration RttEstimator::reordering(const Params &p) const {
  if (!measured())
    return p.initial_rto;
  return std::min(base() / 4 * (1 + reordering_), widest_reordering(p));
}

Duration RttEstimator::widest_reordering(const Params &p) const {
  return measured() ? 2 * srtt() : p.initial_rto;
}

} // namespace dpdkx::session

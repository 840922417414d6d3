// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/check/responder.h"

#include "dpdkx/base/log.h"
#include "dpdkx/base/room.h"
#include "dpdkx/check/random.h"

#include <algorithm>
#include <string>

namespace dpdkx::check {

namespace {

constexpr Duration tell_every = std::chrono::minutes(1);

std::int64_t unit_of(Time now) { return now.time_since_epoch() / Responder::cookie_unit; }

} // namespace

std::optional<wire::Probe> Responder::take(link::Port &port, const link::RxDatagram &datagram,
                                           std::span<const std::byte> body, Time now) {
  wire::Probe probe;
  if (!wire::decode(body, probe))
    return std::nullopt;
  if (probe.kind == wire::ProbeKind::question) {
    if (probe.asked >= deaf_after && probe.heard == 0)
      tell_of_deaf(port.source(datagram), probe, now);
    if (!may_answer(now) || !answer(port, datagram, probe, now))
      ++refused_;
  }
  return probe;
}

bool Responder::may_answer(Time now) {
  if (refilled_at_ == Time::min() || now - refilled_at_ >= period) {
    refilled_at_ = now;
    budget_ = burst;
  }
  if (budget_ == 0)
    return false;
  --budget_;
  return true;
}

std::uint64_t Responder::cookie(const Address &of, std::int64_t unit) {
  if (!secret_)
    secret_ = who_.seed ? session::SipKey{who_.seed, ~who_.seed} : session::SipKey{draw(), draw()};
  std::byte in[sizeof(unit) + sizeof(of.ip)];
  wire::bytes::put(in, unit);
  std::memcpy(in + sizeof(unit), of.ip.data(), of.ip.size());
  return session::siphash(*secret_, in) | 1; // never 0
}

bool Responder::answer(link::Port &port, const link::RxDatagram &datagram,
                       const wire::Probe &question, Time now) {
  const Address source = port.source(datagram);
  const std::int64_t unit = unit_of(now);
  const std::uint64_t fresh = cookie(source, unit);
  const bool known = question.cookie != 0 &&
                     (question.cookie == fresh || question.cookie == cookie(source, unit - 1));
  const std::uint32_t most =
      std::min(port.traits().max_datagram, known ? UINT32_MAX : datagram.len);
  const std::uint32_t len = std::min(std::max(question.length, wire::min_probe), most);

  wire::Probe out;
  out.kind = wire::ProbeKind::answer;
  out.role = who_.role;
  out.sequence = question.sequence;
  out.length = datagram.len;
  out.asker = question.asker;
  out.cookie = fresh;
  out.max_datagram = port.traits().max_datagram;
  out.key = who_.key;
  out.padding = (len - wire::min_probe) & ~3u;
  if (!make_room(room_, len))
    return false;
  room_.resize(len);
  const std::uint32_t size = wire::encode_datagram(room_.data(), out);

  if (!known || question.answer_port == 0) {
    port.reply(datagram, {room_.data(), size});
    return true;
  }
  link::Origin there;
  if (!port.origin(datagram, there))
    return false;
  there.source.port = question.answer_port;
  return port.reply_to(there, {room_.data(), size});
}

void Responder::tell_of_deaf(const Address &who, const wire::Probe &question, Time now) {
  if (told_at_ != Time::min() && now - told_at_ < tell_every)
    return;
  told_at_ = now;
  log(LogLevel::warn, [&] {
    return to_string(who) + " has asked " + std::to_string(question.asked) +
           " times whether anybody answers here, and heard none of the answers: what it sends "
           "arrives, and what is sent to it does not; a firewall between here and there must let "
           "UDP to port " +
           std::to_string(who.port) + " of it through";
  });
}

} // namespace dpdkx::check

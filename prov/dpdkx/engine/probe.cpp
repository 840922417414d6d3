// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Probes: what others ask of this endpoint is answered; and with Config::check a
// peer that a session can't be set up with is asked, so that what is told of the
// failure names its cause.
#include "dpdkx/check/prober.h"
#include "dpdkx/engine/impl.h"

#include <algorithm>
#include <new>

namespace dpdkx::engine {

// Of one peer at a time: when a whole job can't be reached, one says why.
struct Endpoint::Impl::Inquiry {
  Conn *conn;
  check::Prober prober;
};

void Endpoint::Impl::InquiryDeleter::operator()(Inquiry *i) const { delete i; }

namespace {

// A handshake is not asked about before it has been tried for such a part of the time it has.
constexpr int first_part = 4;
constexpr int question_part = 16;

check::Scene scene_of(const Conn &c) {
  const std::string name = to_string(c.address);
  check::Scene scene;
  scene.host = name.substr(0, name.rfind(':'));
  scene.port = std::to_string(c.address.port);
  scene.headers = c.address.is_v4() ? 28 : 48;
  scene.own_max_datagram = c.port->traits().max_datagram;
  scene.of_endpoint = true;
  return scene;
}

} // namespace

void Endpoint::Impl::on_probe(Attachment &a, const link::RxDatagram &d,
                              std::span<const std::byte> body) {
  if (a.port->traits().lossless) {
    ++statistics_.malformed;
    return;
  }
  const auto probe = responder_.take(*a.port, d, body, now_);
  if (!probe)
    ++statistics_.malformed;
  else if (probe->kind == wire::ProbeKind::answer && inquiry_ &&
           a.port->source(d) == inquiry_->conn->address) {
    inquiry_->prober.answered(*probe, d.len, false, now_);
    timers_.at_latest(*inquiry_->conn, inquiry_->prober.due());
  }
}

bool Endpoint::Impl::asks_about(const Conn &c) const { return inquiry_ && inquiry_->conn == &c; }

Time Endpoint::Impl::inquiry_due(const Conn &c) const {
  return asks_about(c) ? inquiry_->prober.due() : never;
}

// Its handshake has been unanswered for a while.
void Endpoint::Impl::inquire(Conn &c) {
  if (c.opened || c.lossless || !c.path_up)
    return;
  if (!inquiry_) {
    const Duration limit = config_.session.peer_timeout;
    if (c.session.asked_for(now_) < limit / first_part)
      return;
    check::Prober::Plan plan;
    plan.id = gate_.draw();
    plan.role = wire::ProbeRole::endpoint;
    plan.key = wire::probe_key(config_.session.key);
    plan.max_datagram = c.port->traits().max_datagram;
    plan.patience = std::min(plan.patience, limit / question_part);
    inquiry_.reset(new (std::nothrow) Inquiry{&c, check::Prober(plan)});
  }
  if (!asks_about(c))
    return;
  const auto question = inquiry_->prober.next(now_);
  if (!question)
    return;
  const std::uint32_t len = wire::min_probe + question->padding;
  const link::TxRoom room = c.port->reserve(c.path, len);
  if (!room.data)
    return;
  c.port->commit(c.path, room, wire::encode_datagram(room.data, *question));
  attachment(c).dirty = true;
}

// What is to be told of a session that has never come to be; empty: nothing is known.
std::string Endpoint::Impl::cause(const Conn &c) const {
  if (!config_.check || c.opened || c.lossless)
    return {};
  check::Result result;
  if (asks_about(c))
    result = inquiry_->prober.result();
  else if (c.error == EHOSTUNREACH) {
    result.verdict = check::Verdict::unreachable;
    result.error = c.error;
  } else {
    return {};
  }
  const std::string words = check::explain(result, scene_of(c));
  return std::string("; ") +
         (words.empty() ? "yet datagrams of all sizes pass, and it answers probes" : words);
}

void Endpoint::Impl::end_inquiry(const Conn &c) {
  if (asks_about(c))
    inquiry_.reset();
}

} // namespace dpdkx::engine

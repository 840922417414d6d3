// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How connections end. A doomed one does nothing any more; it is buried, and
// its operations end, when the turn is over and nobody can be inside it.
#include "dpdkx/engine/impl.h"

#include <algorithm>
#include <cstring>

namespace dpdkx::engine {

void Endpoint::Impl::doom(Conn &c, int error) {
  if (c.doomed)
    return;
  c.doomed = true;
  c.error = static_cast<std::uint16_t>(error) & 0x1ff;
  doomed_.add(c);
}

// Takes it out of all tables by which it could be found.
void Endpoint::Impl::detach(Conn &c) {
  by_address_.erase(&c);
  if (c.aliased)
    std::replace(by_addr_.begin(), by_addr_.end(), &c, static_cast<Conn *>(nullptr));
  else if (c.addr < by_addr_.size() && by_addr_[c.addr] == &c)
    by_addr_[c.addr] = nullptr;
}

void Endpoint::Impl::bury(Conn &c) {
  detach(c);
  if (open_.conn == &c) {
    c.port->cancel(c.path, open_.room);
    give_packet(open_.packet);
    open_ = {};
  }
  timers_.remove(c);
  for (WorkList *list : {&pushes_, &acks_, &tellings_, &listeners_, &settle_later_, &doomed_})
    list->forget(c);
  for (Backlog *b = backlog_.front(); b; b = backlog_.next(b))
    if (b->conn == &c)
      b->conn = nullptr;
  for (session::TxPacket *p = c.session.take_all(), *next; p; p = next) {
    next = p->next;
    give_packet(static_cast<Packet *>(p));
  }
  if (!closed_ && !c.told && ((c.traffic && c.traffic->loses()) || asks_about(c)))
    log(LogLevel::warn, [&] {
      return "peer " + to_string(c.address) +
             " is lost, and what was under way with it: " + std::strerror(c.error) +
             (c.error == EMSGSIZE ? "; the path has come to swallow large "
                                    "datagrams: set FI_DPDKX_MTU to what it carries"
                                  : cause(c));
    });
  end_inquiry(c);
  if (closed_)
    messenger_.abandon(c);
  else
    messenger_.fail(c, c.error);
  gone(c);
  Attachment &a = attachment(c);
  for (const link::PathId path : {c.path, c.other_path})
    // A successor of this connection may have taken the path over.
    if (path != link::PathId::none && on_path(a, path) == &c) {
      set_path(a, path, nullptr);
      a.port->close_path(path);
    }
  lossy_conns_ -= c.opened && !c.lossless;
  end_dialling(c);
  conns_.destroy(c);
}

// A new life at the same address may be there: what is posted next goes to that.
void Endpoint::Impl::look_for_ends() {
  end_seen_ = false;
  poll_paths(host_);
  if (!doomed_.empty())
    bury_doomed();
}

void Endpoint::Impl::close() {
  if (closed_)
    return;
  read_clock();
  close_open();
  closed_ = true;
  conns_.for_each([this](Conn &c) {
    if (c.doomed)
      return;
    send_bye(c);
    doom(c, ECONNABORTED);
  });
  finish();
}

} // namespace dpdkx::engine

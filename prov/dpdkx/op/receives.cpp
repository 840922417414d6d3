// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Receives: posted, matched with what has already come, peeked at, claimed,
// cancelled.
#include "dpdkx/op/receives.h"

#include "dpdkx/base/room.h"
#include "dpdkx/op/deferred.h"
#include "dpdkx/op/messenger.h"

#include <algorithm>
#include <new>

namespace dpdkx::op {

void report_receive(const Completers &completers, const RxOp &op, fi_addr_t src, const Arrival &a,
                    int error, bool last, std::span<const std::byte> raw) {
  const std::size_t over = a.total - a.placed;
  if (error == 0 && over)
    error = FI_ETRUNC;
  void *context = op.context;
  if (op.flags & deferred_work) [[unlikely]]
    if (!Deferred::end(op.flags, context, error))
      return;
  util_ext::Completion entry{.op_context = context,
                             .flags = FI_RECV | a.flags,
                             .len = a.placed,
                             .buf = nullptr,
                             .data = a.data,
                             .tag = a.tag,
                             .src = completers.name_of(src)};
  if (op.flags & FI_MULTI_RECV) {
    entry.buf = static_cast<std::byte *>(op.memory.iov[0].iov_base) + a.base;
    if (last)
      entry.flags |= FI_MULTI_RECV;
  } else if (op.memory.count) {
    entry.buf = op.memory.iov[0].iov_base;
  }
  util_ext::Cntr *cntr = completers.rx_cntr;
  if (error == 0) {
    // That a multi-receive buffer is free again is told even if nothing else is.
    if (((op.flags & FI_COMPLETION) || (entry.flags & FI_MULTI_RECV)) && completers.rx_cq)
      completers.rx_cq->write(entry);
    if (cntr)
      cntr->add(1);
    return;
  }
  if (completers.rx_cq)
    completers.rx_cq->write_error({.entry = entry,
                                   .olen = error == FI_ETRUNC ? over : 0,
                                   .err = error,
                                   .prov_errno = error,
                                   .err_data = raw.empty() ? nullptr : raw.data(),
                                   .err_data_size = raw.size()});
  if (cntr)
    cntr->add_error(1);
}

Receives::~Receives() {
  drop_of(nullptr);
  while (Unexpected *u = free_) {
    free_ = u->free_next;
    delete u;
  }
}

// Messages of that messenger, or of all, are forgotten.
void Receives::drop_of(const Messenger *owner) {
  const auto of = [owner](const Unexpected &u) { return !owner || u.owner == owner; };
  for (util_ext::Matcher *m : {&tagged, &untagged})
    m->for_each_unexpected([&](util_ext::UnexpectedMessage &message) {
      auto &u = static_cast<Unexpected &>(message);
      if (!of(u))
        return;
      m->remove(u);
      give(u);
    });
  std::erase_if(claimed, [&](Unexpected *u) {
    if (!of(*u))
      return false;
    give(*u);
    return true;
  });
}

void Receives::leave(const Messenger &messenger, const Completers &completers) {
  drop_of(&messenger);
  std::erase(members_, &completers);
}

// --- Posting

ssize_t Receives::no_rx() const { return rx_.taken() < rx_.limit() ? -FI_ENOMEM : -FI_EAGAIN; }

RxOp *Receives::take_rx(const ReceiveRequest &r) {
  RxOp *op = rx_.take();
  if (!op)
    return nullptr;
  op->tag = r.flags & FI_TAGGED ? r.tag : 0;
  op->ignore = r.flags & FI_TAGGED ? r.ignore : 0;
  op->src = r.src;
  op->memory.set(r.iov, r.iov_count, r.len);
  op->flags = r.flags;
  op->context = r.context;
  op->posted = op->spent = false;
  op->used = 0;
  op->landing = 0;
  return op;
}

ssize_t Receives::receive(const ReceiveRequest &r) {
  for (const Completers *c : members_)
    if (c->rx_cq && !c->rx_cq->room())
      return -FI_EAGAIN;
  if (r.flags & (FI_PEEK | FI_CLAIM | FI_DISCARD)) [[unlikely]]
    return receive_special(r);
  RxOp *op = take_rx(r);
  if (!op)
    return no_rx();
  util_ext::Matcher &m = matcher(r.flags);
  while (!op->spent && m.unexpected_count()) {
    auto *u = static_cast<Unexpected *>(m.find_unexpected(op->tag, op->ignore, op->src));
    if (!u)
      break;
    m.remove(*u);
    const bool last = !(r.flags & FI_MULTI_RECV);
    u->owner->attach(*op, *u);
    if (last)
      return 0;
  }
  if (op->spent) // a multi-receive that has been filled at once
    return 0;
  m.post(*op);
  op->posted = true;
  return 0;
}

// --- Peek, claim, discard

ssize_t Receives::receive_special(const ReceiveRequest &r) {
  if (r.flags & FI_PEEK)
    return peek(r);
  return r.flags & FI_CLAIM ? receive_claimed(r) : -FI_EINVAL;
}

ssize_t Receives::peek(const ReceiveRequest &r) {
  util_ext::Matcher &m = matcher(r.flags);
  const std::uint64_t kind = FI_RECV | (r.flags & (FI_MSG | FI_TAGGED));
  const bool is_tagged = r.flags & FI_TAGGED;
  auto *u = static_cast<Unexpected *>(
      m.find_unexpected(is_tagged ? r.tag : 0, is_tagged ? r.ignore : 0, r.src));
  // Without a queue nobody is told, and yet it is done.
  util_ext::Cq *cq = u ? u->owner->completers_.rx_cq : nobodys_queue();
  if (!u) {
    if (cq)
      cq->write_error({.entry = {.op_context = r.context, .flags = kind, .tag = r.tag},
                       .err = FI_ENOMSG,
                       .prov_errno = FI_ENOMSG});
    return 0;
  }
  if ((r.flags & FI_CLAIM) && !make_room(claimed, claimed.size() + 1))
    return -FI_ENOMEM;
  if (cq)
    cq->write({.op_context = r.context,
               .flags = FI_RECV | u->flags,
               .len = u->total,
               .data = u->data,
               .tag = u->tag,
               .src = u->owner->completers_.name_of(u->src)});
  if (r.flags & FI_DISCARD) {
    m.remove(*u);
    u->owner->discard(*u);
  } else if (r.flags & FI_CLAIM) {
    m.remove(*u);
    u->claimant = r.context;
    claimed.push_back(u);
  }
  return 0;
}

ssize_t Receives::receive_claimed(const ReceiveRequest &r) {
  const auto at = std::find_if(claimed.begin(), claimed.end(), [&](const Unexpected *u) {
    return u->claimant == r.context && ((u->flags ^ r.flags) & FI_TAGGED) == 0;
  });
  if (at == claimed.end())
    return -FI_EINVAL;
  Unexpected *u = *at;
  if (r.flags & FI_DISCARD) {
    claimed.erase(at);
    if (util_ext::Cq *cq = u->owner->completers_.rx_cq; cq && (r.flags & FI_COMPLETION))
      cq->write({.op_context = r.context,
                 .flags = FI_RECV | u->flags,
                 .data = u->data,
                 .tag = u->tag,
                 .src = u->owner->completers_.name_of(u->src)});
    u->owner->discard(*u);
    return 0;
  }
  RxOp *op = take_rx(r);
  if (!op)
    return no_rx();
  op->flags &= ~FI_MULTI_RECV;
  claimed.erase(at);
  u->owner->attach(*op, *u);
  return 0;
}

// --- Ending

bool Receives::cancel(const void *context) {
  RxOp *found = nullptr;
  for (util_ext::Matcher *m : {&tagged, &untagged})
    m->for_each_posted([&](util_ext::PostedReceive &r) {
      auto &op = static_cast<RxOp &>(r);
      if (!found && Deferred::named(op.flags, op.context) == context)
        found = &op;
    });
  if (found) {
    withdraw(*found, FI_ECANCELED);
    return true;
  }
  return false;
}

bool Receives::waits_for(const ReceiveRequest &r) {
  const bool is_tagged = r.flags & FI_TAGGED;
  return matcher(r.flags).find_unexpected(is_tagged ? r.tag : 0, is_tagged ? r.ignore : 0, r.src);
}

void Receives::flush(int error) {
  for (util_ext::Matcher *m : {&tagged, &untagged})
    m->for_each_posted(
        [&](util_ext::PostedReceive &r) { withdraw(static_cast<RxOp &>(r), error); });
}

// Takes a posted receive back.
void Receives::withdraw(RxOp &op, int error) {
  matcher(op.flags).remove(op);
  op.posted = false;
  op.spent = true;
  if (op.landing != 0)
    return; // the last message on its way in releases it
  if (const Completers *c = reports())
    report_receive(*c, op, FI_ADDR_NOTAVAIL, {0, 0, op.flags & (FI_MSG | FI_TAGGED), 0, 0, 0},
                   error, true, {});
  give(op);
}

} // namespace dpdkx::op

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What peers do to registered memory here: writes, reads and atomics, in the
// order of their numbers. Rights and bounds are looked at with every packet, as
// a registration may be closed at any time.
#include "dpdkx/op/messenger.h"

#include <algorithm>

namespace dpdkx::op {

int Messenger::open(Reach &reach, const wire::Targets &targets, std::uint64_t rights) const {
  if (rights & ~completers_.remote_rights) [[unlikely]]
    return FI_EACCES;
  return reach.open(completers_.regions, targets, rights);
}

// --- Writes

bool Messenger::execute(Peer &p, const wire::WriteFrame &f) {
  const std::uint64_t flags =
      FI_RMA | FI_REMOTE_WRITE | (f.flags & wire::frame_flag::cq_data ? FI_REMOTE_CQ_DATA : 0);
  owe_processed(p, f.flags);
  Reach reach;
  const int error = open(reach, f.targets, FI_REMOTE_WRITE);
  if (f.flags & wire::frame_flag::more) {
    Landing *l = take_write(p, f.mn, f.targets, flags, f.data);
    if (!l)
      return true;
    l->status = error; // of the whole: else none of it is to land
    p.traffic->assemblies.push_back(l);
    ++p.traffic->arriving;
    assemble(*l, 0, f.payload, f.len);
    return true;
  }
  if (error == 0)
    reach.put(0, f.payload, f.len);
  if (error)
    tell_failed(p, f.mn, error);
  else
    written(p, reach, flags, f.len, f.data);
  return true;
}

// A large one: from here on as a message that has met its receive.
bool Messenger::execute(Peer &p, const wire::WriteRequestFrame &f) {
  const std::uint64_t flags =
      FI_RMA | FI_REMOTE_WRITE | (f.flags & wire::frame_flag::cq_data ? FI_REMOTE_CQ_DATA : 0);
  Reach reach;
  if (const int error = open(reach, f.targets, FI_REMOTE_WRITE)) {
    send_fin(p, f.sender, error);
    return true;
  }
  Landing *l = take_write(p, f.mn, f.targets, flags, f.data);
  if (!l)
    return true;
  l->sender = f.sender;
  l->regions = f.flags & wire::frame_flag::pull ? f.regions : 0;
  std::copy_n(f.region, l->regions, l->region);
  begin_rendezvous(*l);
  return true;
}

Landing *Messenger::take_write(Peer &p, MessageNumber mn, const wire::Targets &targets,
                               std::uint64_t flags, std::uint64_t data) {
  Landing *l = traffic(p) ? landings_.take() : nullptr;
  FarMemory *remote = l ? remotes_.take() : nullptr;
  if (!remote) {
    if (l)
      landings_.give(l);
    outlet_.out_of_memory(p);
    return nullptr;
  }
  remote->targets = targets;
  l->peer = &p;
  l->op = nullptr;
  l->unexpected = nullptr;
  l->pulling = false;
  l->base = 0;
  l->mn = mn;
  l->total = l->wanted = targets.total();
  l->received = 0;
  l->flags = flags;
  l->tag = 0;
  l->data = data;
  l->charge = 0;
  l->sender = wire::OpId::none;
  l->regions = 0;
  l->remote = remote;
  l->status = 0;
  l->told = false;
  return l;
}

void Messenger::give_write(Landing &l) {
  remotes_.give(l.remote);
  l.remote = nullptr;
  landings_.give(&l);
}

int Messenger::put(const FarMemory &remote, std::uint64_t offset, const std::byte *from,
                   std::size_t n) {
  Reach reach;
  const int error = open(reach, slice(remote.targets, offset, n), FI_REMOTE_WRITE);
  if (error == 0)
    reach.put(0, from, n);
  return error;
}

// Tells the application here of a peer's write or atomic.
void Messenger::written(Peer &p, const Reach &reach, std::uint64_t flags, std::uint64_t total,
                        std::uint64_t data) {
  reach.count(FI_REMOTE_WRITE);
  if ((flags & FI_REMOTE_CQ_DATA) && completers_.rx_cq)
    completers_.rx_cq->write(
        {.flags = flags, .len = total, .data = data, .src = completers_.name_of(p.addr)});
  if (completers_.remote_write_cntr)
    completers_.remote_write_cntr->add(1);
}

// All bytes of one that came in parts are here.
void Messenger::written(Landing &l) {
  Reach reach;
  if (l.status == 0)
    l.status = open(reach, l.remote->targets, FI_REMOTE_WRITE);
  if (l.status == 0)
    written(*l.peer, reach, l.flags, l.total, l.data);
}

// The peer waits for the processed position.
void Messenger::owe_processed(Peer &p, std::uint8_t flags) {
  p.owes_processed = true;
  if (p.lossless || (flags & wire::frame_flag::want_processed))
    outlet_.want_told(p);
  else
    outlet_.want_ack_soon(p);
}

// --- Failures: the processed position stays before a failed write until the peer knows.

void Messenger::tell_failed(Peer &p, MessageNumber mn, int error) {
  Landing *l = take_write(p, mn, {}, 0, 0);
  if (!l)
    return;
  l->status = error;
  // In order of number: an add may have waited while others came.
  auto &all = p.traffic->assemblies;
  Landing *after = all.front();
  while (after && after->mn < mn)
    after = all.next(after);
  all.insert_before(after, l);
  tell_failed(*l);
}

void Messenger::tell_failed(Landing &l) {
  ControlFrame c{};
  c.type = wire::FrameType::status;
  c.status.status = static_cast<std::uint16_t>(l.status);
  c.status.mn = l.mn;
  c.failed = &l;
  Peer &p = *l.peer;
  outlet_.tell_in_order(p);
  send_or_queue(p, std::move(c));
  settle_failed(p);
}

void Messenger::settle_failed(Peer &p) {
  Traffic &t = *p.traffic;
  bool any = false;
  for (Landing *l = t.assemblies.front(), *next; l; l = next) {
    next = t.assemblies.next(l);
    if (!l->remote || !l->told || !(p.lossless || l->status_pn < outlet_.acked(p)))
      continue;
    t.assemblies.erase(l);
    give_write(*l);
    any = true;
  }
  if (any)
    outlet_.want_ack(p);
}

// --- Reads

// `fill` puts the data where they are to go: into the packet, if there is room for one.
template <class Fill>
void Messenger::answer(Peer &p, wire::OpId reader, std::uint64_t offset, std::uint64_t n,
                       Fill &&fill) {
  wire::RdataFrame f;
  f.len = static_cast<std::uint16_t>(n);
  f.receiver = reader;
  f.offset = offset;
  const std::uint32_t len = static_cast<std::uint32_t>(wire::rdata_frame_size + n);
  const bool at_once = !p.traffic || p.traffic->control.empty();
  if (std::byte *out = at_once ? outlet_.begin(p, len) : nullptr) {
    fill(wire::encode(out, f));
    outlet_.commit(p, len);
    return;
  }
  // What stands there in its turn, also when it must wait for room.
  ControlFrame c{};
  c.type = wire::FrameType::rdata;
  c.rdata = f;
  c.payload.reset(new (std::nothrow) std::byte[n]);
  if (!c.payload) {
    outlet_.out_of_memory(p);
    return;
  }
  fill(c.payload.get());
  send_or_queue(p, std::move(c));
}

bool Messenger::execute(Peer &p, const wire::ReadFrame &f) {
  const std::uint64_t total = f.targets.total();
  Reach reach;
  if (const int error = open(reach, f.targets, FI_REMOTE_READ)) {
    send_fin(p, f.reader, error);
    return true;
  }
  if (total + wire::rdata_frame_size > p.max_frames) {
    serve(p, f);
    return true;
  }
  if (total == 0)
    send_fin(p, f.reader, 0);
  else
    answer(p, f.reader, 0, total, [&](std::byte *out) { reach.get(0, out, total); });
  been_read(reach); // now, not before: whoever sees it counted may change the memory
  return true;
}

void Messenger::been_read(const Reach &reach) {
  reach.count(FI_REMOTE_READ);
  if (completers_.remote_read_cntr)
    completers_.remote_read_cntr->add(1);
}

// A large one: its data stream as those of a rendezvous do.
void Messenger::serve(Peer &p, const wire::ReadFrame &f) {
  TxOp *op = traffic(p) ? serving_.take() : nullptr;
  FarMemory *remote = op ? remotes_.take() : nullptr;
  if (!remote) {
    if (op)
      serving_.give(op);
    outlet_.out_of_memory(p);
    return;
  }
  remote->targets = f.targets;
  op->peer = &p;
  op->serves = true;
  op->connection = wire::FrameType::pad;
  op->owned = nullptr;
  op->remote = remote;
  op->adds = false;
  op->mn = f.mn;
  op->flags = 0;
  op->receiver = f.reader;
  op->offset = 0;
  op->wanted = f.targets.total();
  op->stage = TxStage::streaming;
  p.traffic->streaming.push_back(op);
  outlet_.want_push(p);
}

// All of its data are on their way. A registration that has been closed since has no counter.
void Messenger::served(TxOp &op) {
  Reach reach;
  open(reach, op.remote->targets, FI_REMOTE_READ);
  been_read(reach);
  Peer &p = *op.peer;
  release(op);
  settle_adds(p);
}

// --- Atomics

namespace {

bool divides(const Reach &reach, std::uint64_t total, std::size_t size) {
  for (std::uint64_t done = 0; done < total;) {
    const std::size_t whole =
        std::min<std::uint64_t>(reach.piece(done).iov_len, total - done) / size;
    if (whole == 0)
      return false;
    done += whole * size;
  }
  return true;
}

void apply(const Reach &reach, const wire::AtomicFrame &f, std::uint64_t total, std::byte *former) {
  const auto datatype = static_cast<fi_datatype>(f.datatype);
  const std::size_t size = atomic_size(datatype);
  for (std::uint64_t done = 0; done < total;) {
    const iovec at = reach.piece(done);
    const std::size_t whole = std::min<std::uint64_t>(at.iov_len, total - done) / size;
    atomic_apply(static_cast<AtomicKind>(f.kind), static_cast<fi_op>(f.op), datatype,
                 static_cast<std::byte *>(at.iov_base), f.payload + done, f.payload + total + done,
                 former ? former + done : nullptr, whole);
    done += whole * size;
  }
}

} // namespace

bool Messenger::execute(Peer &p, const wire::AtomicFrame &f) {
  const auto kind = static_cast<AtomicKind>(f.kind);
  const auto operation = static_cast<fi_op>(f.op);
  const auto datatype = static_cast<fi_datatype>(f.datatype);
  const std::size_t size = atomic_size(datatype);
  const std::uint64_t total = f.targets.total();
  const bool answers = kind != AtomicKind::plain;
  if (!answers)
    owe_processed(p, f.flags);
  const auto fail = [&](int error) {
    if (answers)
      send_fin(p, f.reader, error);
    else
      tell_failed(p, f.mn, error);
  };
  if (!atomic_defined(operation, datatype, kind) || total % size != 0 ||
      f.len != total * (kind == AtomicKind::compare ? 2 : 1) ||
      total + wire::rdata_frame_size > p.max_frames) {
    fail(FI_EOPNOTSUPP);
    return false;
  }
  const std::uint64_t rights =
      (operation == FI_ATOMIC_READ ? 0 : FI_REMOTE_WRITE) | (answers ? FI_REMOTE_READ : 0);
  Reach reach;
  if (const int error = open(reach, f.targets, rights)) {
    fail(error);
    return true;
  }
  if (!divides(reach, total, size)) { // an element across two buffers of one registration
    fail(FI_EOPNOTSUPP);
    return true;
  }
  if (!answers) {
    apply(reach, f, total, nullptr);
    const bool data = f.flags & wire::frame_flag::cq_data;
    written(p, reach, FI_ATOMIC | FI_REMOTE_WRITE | (data ? FI_REMOTE_CQ_DATA : 0), total, f.data);
    return true;
  }
  if (total == 0)
    send_fin(p, f.reader, 0);
  else
    answer(p, f.reader, f.offset, total,
           [&](std::byte *former) { apply(reach, f, total, former); });
  // A read to the endpoint's counters (fi_endpoint(3)); to a region's also that it has been
  // modified (fi_mr(3)).
  if (operation != FI_ATOMIC_READ)
    reach.count(FI_REMOTE_WRITE);
  been_read(reach);
  return true;
}

} // namespace dpdkx::op

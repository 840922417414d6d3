// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"

#include <algorithm>
#include <cstring>

namespace lab {

// --- Packets

Bytes Packet::bytes() const {
  Bytes b = frames;
  if (source) {
    assert_int_equal(source->slab_generation, generation);
    b.resize(frames.size() + tail);
    assert_int_equal(source->memory.copy_out(offset, b.data() + frames.size(), tail), tail);
  }
  return b;
}

// --- Sides

Side::Side(const Options &o, unsigned self, unsigned peers) : queues(o.queues) {
  m = std::make_unique<Messenger>(o.limits, queues.completers, *this);
  for (unsigned i = 0; i < peers; ++i) {
    remotes.push_back(std::make_unique<Remote>());
    if (i != self)
      remotes.back()->addr = i;
  }
}

Side::~Side() {
  for (auto &r : remotes)
    m->abandon(*r);
}

ssize_t Side::try_send(Call &c, unsigned dest, const SendHow &how) {
  return m->send(to(dest), request(c, dest, how));
}

ssize_t Side::try_receive(Call &c, const ReceiveHow &how) { return m->receive(request(c, how)); }

Call &Side::send(unsigned dest, Bytes bytes, const SendHow &how) {
  Call &c = calls.emplace_back(std::move(bytes), how.pieces);
  assert_int_equal(try_send(c, dest, how), 0);
  reap();
  return c;
}

Call &Side::receive(std::size_t size, const ReceiveHow &how) {
  Call &c = calls.emplace_back(Bytes(size), how.pieces);
  assert_int_equal(try_receive(c, how), 0);
  reap();
  return c;
}

Call &Side::peek(const ReceiveHow &how) {
  Call &c = calls.emplace_back();
  ReceiveHow with = how;
  with.flags |= FI_PEEK;
  assert_int_equal(try_receive(c, with), 0);
  reap();
  return c;
}

void Side::lose(unsigned peer, int error) {
  (m->fail)(to(peer), error);
  to(peer).out.clear();
  reap();
}

std::vector<FrameType> Side::in_flight(unsigned dest) const {
  std::vector<FrameType> types;
  for (const Packet &p : remotes[dest]->out)
    types.push_back(p.type());
  return types;
}

bool Side::on_frame(unsigned from, const wire::Frame &f) {
  const bool sensible = m->on_frame(to(from), f);
  m->tidy(to(from));
  reap();
  return sensible;
}

// --- The outlet

std::byte *Side::begin(Peer &p, std::uint32_t len, Load load) {
  assert_true(len <= p.max_frames);
  assert_int_equal(begun_, 0);
  if (room == 0)
    return nullptr;
  begun_ = len;
  load_ = load;
  scratch_.assign(len, std::byte{0xee});
  return scratch_.data();
}

PacketNumber Side::commit(Peer &p, std::uint32_t len, const TxOp *source, std::uint64_t offset,
                          std::uint32_t tail) {
  assert_int_equal(len, begun_);
  begun_ = 0;
  if (room != SIZE_MAX)
    --room;
  Remote &r = remote(p);
  Packet &packet = r.out.emplace_back();
  packet.pn = r.next_pn++;
  packet.load = load_;
  packet.frames.assign(scratch_.begin(), scratch_.begin() + (len - tail));
  packet.source = source;
  packet.generation = source ? source->slab_generation : 0;
  packet.offset = offset;
  packet.tail = tail;
  if (p.lossless)
    r.acked = r.next_pn;
  return packet.pn;
}

void Side::out_of_memory(Peer &p) { violation(p, "no memory"); }

void Side::on_connection(Peer &, const wire::ConnectionFrame &f) {
  connection_frames.emplace_back(f, Bytes(f.payload, f.payload + f.len));
}

void Side::violation(Peer &p, const char *what) {
  remote(p).violation = what;
  remote(p).failed_later = true;
}

int Side::pull(Peer &, std::span<const iovec> local, std::span<const iovec> from) {
  ++pulls;
  if (pull_result != 0)
    return pull_result;
  Bytes all;
  for (const iovec &v : from) {
    const auto *start = static_cast<const std::byte *>(v.iov_base);
    all.insert(all.end(), start, start + v.iov_len);
  }
  std::size_t at = 0;
  for (const iovec &v : local) {
    assert_true(at + v.iov_len <= all.size());
    if (v.iov_len)
      std::memcpy(v.iov_base, all.data() + at, v.iov_len);
    at += v.iov_len;
  }
  assert_int_equal(at, all.size());
  return 0;
}

std::size_t Side::raw_address(const Peer &p, std::byte (&out)[32]) const {
  out[0] = static_cast<std::byte>(0xa0);
  out[1] = static_cast<std::byte>(p.max_frames & 0xff);
  return 2;
}

// --- The lab

static std::vector<std::unique_ptr<Side>> make_sides(const Options &o, unsigned n) {
  std::vector<std::unique_ptr<Side>> sides;
  for (unsigned i = 0; i < n; ++i)
    sides.push_back(std::make_unique<Side>(o, i, n));
  return sides;
}

Lab::Lab(const Options &o, unsigned sides) : Lab(o, make_sides(o, sides)) {
  for (unsigned i = 0; i < sides; ++i)
    for (unsigned j = 0; j < sides; ++j)
      if (i != j && o.open)
        open(i, j);
}

Lab::Lab(const Options &o, std::vector<std::unique_ptr<Side>> sides)
    : a(*sides[0]), b(*sides[1]), sides_(std::move(sides)), options_(o) {}

void Lab::open(unsigned from, unsigned to) {
  const MessageNumber tx{options_.first_mn + from}, rx{options_.first_mn + to};
  side(from).m->opened(side(from).to(to), {.tx_first = tx,
                                           .rx_first = rx,
                                           .tx_credit = options_.credit,
                                           .rx_credit = options_.credit,
                                           .max_frames = options_.max_frames,
                                           .lossless = options_.lossless,
                                           .can_pull = options_.can_pull,
                                           .rma = true,
                                           .connects = true,
                                           .counts = true});
}

bool Lab::deliver(unsigned from, unsigned to, std::size_t which) {
  auto &out = side(from).to(to).out;
  assert_true(which < out.size());
  const Bytes bytes = out[which].bytes();
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(which));
  std::span<const std::byte> in(bytes);
  wire::Frame f;
  assert_true(wire::decode_frame(in, f) == wire::FrameResult::frame);
  assert_true(in.empty());
  return side(to).on_frame(from, f);
}

void Lab::deliver_all(unsigned from, unsigned to) {
  while (!side(from).to(to).out.empty())
    assert_true(deliver(from, to));
}

void Lab::tell(unsigned from, unsigned to) {
  Remote &teller = side(from).to(to), &told = side(to).to(from);
  teller.ack = false;
  teller.rx_told = teller.rx_limit();
  if (!told.lossless) {
    told.acked = told.next_pn;
    for (const Packet &p : told.out)
      told.acked = std::min(told.acked, p.pn);
  }
  Messenger::note(told, teller.processed(), teller.rx_told);
  if (told.traffic) {
    side(to).m->settle(told);
    if (told.traffic->to_send())
      told.push = true;
    side(to).m->tidy(told);
  }
  side(to).reap();
}

void Lab::push(unsigned from, unsigned to) {
  Remote &r = side(from).to(to);
  r.push = side(from).m->push(r);
  side(from).m->tidy(r);
  side(from).reap();
}

void Lab::run() {
  const unsigned n = static_cast<unsigned>(sides_.size());
  for (bool again = true; again;) {
    again = false;
    for (unsigned i = 0; i < n; ++i) {
      again |= side(i).m->step();
      for (unsigned j = 0; j < n; ++j) {
        if (i == j || side(i).to(j).max_frames == 0 || side(j).to(i).max_frames == 0)
          continue;
        const std::size_t moved = side(i).to(j).out.size();
        deliver_all(i, j);
        if (options_.lossless) // it keeps order: what left before the ack comes before it
          deliver_all(j, i);
        tell(j, i);
        if (side(i).to(j).push)
          push(i, j);
        again |= moved != 0 || !side(i).to(j).out.empty();
      }
      side(i).reap();
    }
  }
}

} // namespace lab

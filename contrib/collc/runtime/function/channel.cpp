// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/function/channel.h"

#include "collc/runtime/error.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

namespace collc::rt {

namespace {

using clock = std::chrono::steady_clock;

} // namespace

channel::channel(fabric &f, std::int64_t ranks, std::int64_t rank,
                 std::chrono::milliseconds silence, receiver &r)
    : fabric_(f), rank_(rank), silence_(silence), receiver_(r),
      peers_(static_cast<std::size_t>(ranks)) {
  if (f.info().ep_attr->max_msg_size < frame_size)
    fail(-FI_EMSGSIZE, fmt::format("provider {} has messages of up to {} bytes; {} are needed",
                                   f.provider(), f.info().ep_attr->max_msg_size, frame_size));
  make_frames(sends, free_);
  make_frames(receives, to_post_);
  post_receives();
}

channel::~channel() { fabric_.close_endpoint(); }

void channel::make_frames(std::size_t count, std::vector<frame *> &into) {
  auto s = std::make_unique<slab>();
  s->bytes = std::make_unique<std::byte[]>(count * frame_size);
  if (fabric_.needs(FI_MR_LOCAL))
    s->mr = fabric_.reg(s->bytes.get(), count * frame_size, FI_SEND | FI_RECV);
  s->frames.resize(count);
  into.reserve(into.size() + count);
  for (std::size_t i = 0; i < count; ++i) {
    s->frames[i].data = s->bytes.get() + i * frame_size;
    s->frames[i].desc = s->mr ? fi_mr_desc(s->mr.get()) : nullptr;
    into.push_back(&s->frames[i]);
  }
  slabs_.push_back(std::move(s));
}

bool channel::send(std::int64_t to, frame_header h, std::span<const std::byte> payload,
                   std::uint64_t &under_way) {
  if (free_.empty())
    return false;
  peer_state &p = peers_[static_cast<std::size_t>(to)];
  frame &f = *free_.back();
  h.source = static_cast<std::uint32_t>(rank_);
  h.number = p.sent;
  h.length = static_cast<std::uint32_t>(payload.size());
  std::memcpy(f.data, &h, sizeof h);
  if (!payload.empty())
    std::memcpy(f.data + sizeof h, payload.data(), payload.size());
  f.peer = to;
  const ssize_t rc =
      fi_send(fabric_.ep(), f.data, sizeof h + payload.size(), f.desc, fabric_.at(to), &f.context);
  if (rc == -FI_EAGAIN) {
    refused(p, to);
    return false;
  }
  if (rc != 0)
    fail_to_reach(to, static_cast<int>(-rc));
  p.refused = {};
  ++p.sent;
  f.under_way = &under_way;
  ++under_way;
  free_.pop_back();
  return true;
}

// A peer that was there once, and takes nothing for long, is taken for dead: some providers go on
// to say that there is no room.
void channel::refused(peer_state &p, std::int64_t peer) {
  const auto now = clock::now();
  if (p.refused == clock::time_point{})
    p.refused = now;
  else if (p.reached && now - p.refused > silence_)
    fail_to_reach(peer, FI_ETIMEDOUT);
}

void channel::post_receives() {
  while (!to_post_.empty()) {
    frame &f = *to_post_.back();
    f.peer = -1;
    const ssize_t rc =
        fi_recv(fabric_.ep(), f.data, frame_size, f.desc, FI_ADDR_UNSPEC, &f.context);
    if (rc == -FI_EAGAIN)
      break;
    check_call("fi_recv", rc);
    to_post_.pop_back();
    ++posted_;
  }
}

void channel::progress() {
  std::array<fi_cq_msg_entry, 16> entries;
  const ssize_t n = fi_cq_read(fabric_.cq(), entries.data(), entries.size());
  if (n == -FI_EAVAIL)
    take_error();
  else if (n != -FI_EAGAIN)
    check_call("fi_cq_read", n);
  for (ssize_t i = 0; i < n; ++i) {
    frame &f = *static_cast<frame *>(entries[static_cast<std::size_t>(i)].op_context);
    if (f.peer < 0) {
      --posted_;
      received(f);
    } else {
      peers_[static_cast<std::size_t>(f.peer)].reached = true;
      --*f.under_way;
      free_.push_back(&f);
    }
  }
  // All of them wait for one that comes before them.
  if (posted_ == 0 && to_post_.empty())
    make_frames(receives, to_post_);
  post_receives();
}

void channel::received(frame &f) {
  frame_header h;
  std::memcpy(&h, f.data, sizeof h);
  if (h.source >= peers_.size())
    fail(-FI_EOTHER, fmt::format("a message from rank {} of {}", h.source, peers_.size()));
  peer_state &p = peers_[h.source];
  if (h.number != p.taken) {
    f.next = p.early;
    p.early = &f;
    return;
  }
  take(p, f);
  for (frame **e = &p.early; *e != nullptr;) {
    frame &next = **e;
    std::memcpy(&h, next.data, sizeof h);
    if (h.number != p.taken) {
      e = &next.next;
      continue;
    }
    *e = next.next;
    take(p, next);
    e = &p.early; // another may follow
  }
}

void channel::take(peer_state &p, frame &f) {
  ++p.taken;
  to_post_.push_back(&f);
  frame_header h;
  std::memcpy(&h, f.data, sizeof h);
  if (h.length > frame_room)
    fail(-FI_EOTHER, fmt::format("a message of {} bytes from rank {}", h.length, h.source));
  receiver_.take(h, f.data + sizeof h);
}

void channel::take_error() {
  fi_cq_err_entry e{};
  const ssize_t n = fi_cq_readerr(fabric_.cq(), &e, 0);
  if (n == -FI_EAGAIN)
    return;
  check_call("fi_cq_readerr", n);
  frame *const f = static_cast<frame *>(e.op_context);
  if (f != nullptr && f->peer >= 0) {
    --*f->under_way; // its buffer is not used again
    fail_to_reach(f->peer, e.err);
  }
  fail(-e.err, fmt::format("a message: {}", fi_strerror(e.err)));
}

} // namespace collc::rt

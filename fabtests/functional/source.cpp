// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Who sent it: FI_SOURCE and FI_SOURCE_ERR (fi_getinfo(3), fi_cq_readfrom(3)).
#include "common/case.h"
#include "common/forms.h"
#include "common/settings.h"

#include <array>
#include <chrono>
#include <sched.h>

namespace fabtest {

namespace {

// The address that a completion names is that of the sender, message after message.
void named(team &t, fi_av_type type) {
  endpoint e({.caps = FI_MSG | FI_TAGGED | FI_SOURCE, .av_type = type}, "FI_SOURCE");
  e.meet(t);
  constexpr std::size_t each = 50;
  const auto size = [](std::size_t i) { return i % 5 == 4 ? std::size_t{80'000} : i * 10; };
  if (!t.first()) {
    for (std::size_t i = 0; i < each; ++i) {
      op o;
      const auto bytes = payload(size(i), static_cast<std::uint64_t>(t.rank()));
      e.tsend(0, bytes, static_cast<std::uint64_t>(t.rank()), o);
      e.tx().wait_ok(o, "send");
    }
  } else {
    for (std::size_t i = 0; i < each * static_cast<std::size_t>(t.size() - 1); ++i) {
      op o;
      std::vector<std::byte> into(80'000);
      e.trecv(into, 0, o, ~0ull);
      const completion c = e.rx().wait_ok(o, "receive");
      CHECK_EQ(c.source, e.at(static_cast<int>(c.tag)));
      verify(std::span(into).first(c.len), c.tag);
    }
  }
  t.barrier();
}

struct raw_error {
  fi_cq_err_entry entry{};
  std::array<std::byte, 256> address{};
};

// Reads the error entry with a buffer of the caller's for err_data.
raw_error next_error(endpoint &e) {
  raw_error r;
  const auto end = std::chrono::steady_clock::now() + default_wait();
  fi_cq_tagged_entry entry{};
  fi_addr_t source = 0;
  ssize_t rc = 0;
  while ((rc = fi_cq_readfrom(e.rx().get(), &entry, 1, &source)) == -FI_EAGAIN) {
    if (std::chrono::steady_clock::now() > end)
      fail("no completion from a peer that is not in the AV");
    sched_yield();
  }
  CHECK_EQ(rc, static_cast<ssize_t>(-FI_EAVAIL));
  r.entry.err_data = r.address.data();
  r.entry.err_data_size = r.address.size();
  CHECK_EQ(fi_cq_readerr(e.rx().get(), &r.entry, 0), 1);
  return r;
}

} // namespace

CASE(table, .ranks = 4) { named(t, FI_AV_TABLE); }
CASE(map, .ranks = 4) { named(t, FI_AV_MAP); }

// FI_AV_USER_ID: what the application calls each sender.
CASE(user_ids, .ranks = 3) {
  endpoint e({.caps = FI_MSG | FI_TAGGED | FI_SOURCE | FI_AV_USER_ID | FI_DIRECTED_RECV},
             "FI_AV_USER_ID");
  const auto names = t.allgather(e.name());
  const auto id_of = [](std::size_t rank) { return 0xfedc'ba98'0000'0000 + rank; };
  std::vector<fi_addr_t> at;
  for (std::size_t i = 0; i < names.size(); ++i) {
    fi_addr_t address = id_of(i);
    const char *text = reinterpret_cast<const char *>(names[i].data());
    const void *raw =
        e.info().addr_format == FI_ADDR_STR ? static_cast<const void *>(&text) : names[i].data();
    CHECK_EQ(fi_av_insert(e.av(), raw, 1, &address, FI_AV_USER_ID, nullptr), 1);
    at.push_back(address);
  }
  t.barrier();
  op o;
  const auto me = static_cast<std::uint64_t>(t.rank());
  if (!t.first()) {
    const auto content = payload(100, me);
    POST(e, fi_tsend(e.ep(), content.data(), content.size(), nullptr, at[0], me, &o));
    e.tx().wait_ok(o, "send");
  } else {
    for (const std::size_t from :
         {2, 1}) { // the one that came is not always the one that is wanted
      guarded_buffer into(100);
      e.trecv(into.span(), 0, o, ~0ull, at[from]);
      CHECK_EQ(e.rx().wait_ok(o, "receive").source, id_of(from));
      verify(into.span(), from);
    }
  }
  t.barrier();
}

// Without FI_SOURCE_ERR, a sender that is not in the AV has no address.
CASE(stranger) {
  endpoint e({.caps = FI_MSG | FI_TAGGED | FI_SOURCE}, "FI_SOURCE");
  const auto names = t.allgather(e.name());
  op o;
  const auto content = payload(100, 1);
  if (t.first()) {
    for (const bool known : {false, true}) {
      guarded_buffer into(100);
      const fi_addr_t sender = known ? e.add(names[1]) : FI_ADDR_NOTAVAIL;
      e.trecv(into.span(), 1, o);
      t.barrier();
      CHECK_EQ(e.rx().wait_ok(o, "receive").source, sender);
      verify(into.span(), 1);
    }
  } else {
    const fi_addr_t to = e.add(names[0]);
    for (int i = 0; i < 2; ++i) {
      t.barrier();
      POST(e, fi_tsend(e.ep(), content.data(), content.size(), nullptr, to, 1, &o));
      e.tx().wait_ok(o, "send");
    }
  }
  t.barrier();
}

// With it, the completion is an error entry that carries the address, ready for the AV.
CASE(stranger_with_source_err) {
  endpoint e({.caps = FI_MSG | FI_TAGGED | FI_SOURCE | FI_SOURCE_ERR}, "FI_SOURCE_ERR");
  const auto names = t.allgather(e.name());
  const bool with_data = e.info().domain_attr->cq_data_size >= 4;
  op o;
  const auto content = payload(100, 1);
  if (t.first()) {
    guarded_buffer into(100);
    e.trecv(into.span(), 0x99, o);
    t.barrier_without_progress();
    const raw_error r = next_error(e);
    CHECK_EQ(r.entry.err, FI_EADDRNOTAVAIL);
    CHECK(r.entry.op_context == &o);
    CHECK_EQ(r.entry.len, 100u);
    CHECK_EQ(r.entry.tag, 0x99u);
    if (with_data)
      CHECK_EQ(r.entry.data, 31u);
    verify(into.span(), 1);
    const fi_addr_t sender = e.add(bytes(
        r.address.begin(), r.address.begin() + static_cast<std::ptrdiff_t>(r.entry.err_data_size)));
    t.barrier();
    e.trecv(into.span(), 0x99, o);
    CHECK_EQ(e.rx().wait_ok(o, "receive from the peer, now known").source, sender);
    // The address serves for sending too.
    POST(e, fi_tsend(e.ep(), content.data(), content.size(), nullptr, sender, 7, &o));
    e.tx().wait_ok(o, "answer");
  } else {
    const fi_addr_t to = e.add(names[0]);
    t.barrier_without_progress();
    for (int i = 0; i < 2; ++i) {
      if (with_data)
        POST(e, fi_tsenddata(e.ep(), content.data(), content.size(), nullptr, 31, to, 0x99, &o));
      else
        POST(e, fi_tsend(e.ep(), content.data(), content.size(), nullptr, to, 0x99, &o));
      e.tx().wait_ok(o, "send");
      if (i == 0)
        t.barrier();
    }
    guarded_buffer into(100);
    e.trecv(into.span(), 7, o);
    e.rx().wait_ok(o, "answer");
    verify(into.span(), 1);
  }
  t.barrier();
}

} // namespace fabtest

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Completion queues: formats, reading, errors (fi_cq(3)). Waiting is in wait.cpp.
#include "common/case.h"
#include "common/forms.h"
#include "common/settings.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace fabtest {

namespace {

// What a format shows of a message to oneself, and nothing beyond.
void exchange_in_format(team &t, fi_cq_format format) {
  request asked;
  asked.format = format;
  asked.separate_queues = true;
  endpoint e(asked);
  e.meet(t);
  op sent, received;
  guarded_buffer into(300);
  const auto content = payload(200, 1);
  const bool with_data = e.info().domain_attr->cq_data_size >= 4;
  e.trecv(into.span(), 0x51, received);
  post_send(e, kind::tagged, with_data ? send_form::data : send_form::plain, 0, content,
            {.tag = 0x51, .data = 99}, sent);
  const completion r = e.rx().wait_ok(received, "receive");
  const completion s = e.tx().wait_ok(sent, "send");
  verify(into.first(200), 1);
  if (format >= FI_CQ_FORMAT_MSG) {
    CHECK_EQ(r.len, 200u);
    CHECK((r.flags & (FI_RECV | FI_TAGGED)) == (FI_RECV | FI_TAGGED));
    CHECK((s.flags & (FI_SEND | FI_TAGGED)) == (FI_SEND | FI_TAGGED));
  }
  if (format >= FI_CQ_FORMAT_DATA && with_data)
    CHECK_EQ(r.data, 99u);
  if (format >= FI_CQ_FORMAT_TAGGED)
    CHECK_EQ(r.tag, 0x51u);
}

} // namespace

CASE(format_context, .ranks = 1) { exchange_in_format(t, FI_CQ_FORMAT_CONTEXT); }
CASE(format_msg, .ranks = 1) { exchange_in_format(t, FI_CQ_FORMAT_MSG); }
CASE(format_data, .ranks = 1) { exchange_in_format(t, FI_CQ_FORMAT_DATA); }
CASE(format_tagged, .ranks = 1) { exchange_in_format(t, FI_CQ_FORMAT_TAGGED); }

CASE(format_unspecified, .ranks = 1) {
  fabric_and_domain base(find_info({}));
  owned_fid<fid_cq> cq;
  fi_cq_attr attr{};
  CHECK_OK(fi_cq_open(*base, &attr, cq.out(), nullptr));
}

CASE(size_zero_and_sizes, .ranks = 1) {
  fabric_and_domain base(find_info({}));
  for (const std::size_t size : {0, 1, 2, 3, 100, 1000, 1024, 50'000}) {
    owned_fid<fid_cq> cq;
    fi_cq_attr attr{};
    attr.size = size;
    attr.format = FI_CQ_FORMAT_TAGGED;
    CHECK_OK(fi_cq_open(*base, &attr, cq.out(), nullptr));
  }
}

CASE(nothing_to_read, .ranks = 1) {
  endpoint e;
  e.meet(t);
  fi_cq_tagged_entry entry{};
  fi_cq_err_entry error{};
  fi_addr_t source = 0;
  CHECK_CODE(-FI_EAGAIN, fi_cq_read(e.rx().get(), &entry, 1));
  CHECK_CODE(-FI_EAGAIN, fi_cq_readfrom(e.rx().get(), &entry, 1, &source));
  CHECK_CODE(-FI_EAGAIN, fi_cq_readerr(e.rx().get(), &error, 0));
  const ssize_t rc = fi_cq_read(e.rx().get(), nullptr, 0);
  CHECK(rc == 0 || rc == -FI_EAGAIN);
}

// One call returns as many entries as are there and fit, in the order of completion.
CASE(several_at_once, .ranks = 1) {
  request asked;
  asked.separate_queues = true;
  endpoint e(asked);
  e.meet(t);
  constexpr std::size_t count = 40;
  std::vector<op> sends(count), receives(count);
  std::vector<std::array<std::byte, 8>> out(count), in(count);
  for (std::size_t i = 0; i < count; ++i)
    e.trecv(in[i], i, receives[i]);
  for (std::size_t i = 0; i < count; ++i) {
    fill(out[i], i);
    e.tsend(0, out[i], i, sends[i]);
  }
  e.tx().drop(count, "sends"); // nothing reads the other queue meanwhile
  std::array<fi_cq_tagged_entry, 16> entries{};
  std::size_t got = 0;
  const auto end = std::chrono::steady_clock::now() + default_wait();
  while (got < count) {
    const ssize_t rc = fi_cq_read(e.rx().get(), entries.data(), entries.size());
    if (std::chrono::steady_clock::now() > end)
      fail(fmt::format("{} of {} completions", got, count));
    if (rc == -FI_EAGAIN)
      continue;
    CHECK_OK(rc);
    CHECK(rc >= 1 && rc <= static_cast<ssize_t>(entries.size()));
    for (ssize_t i = 0; i < rc; ++i, ++got) {
      const auto &entry = entries[static_cast<std::size_t>(i)];
      CHECK(entry.op_context == &receives[got]);
      CHECK_EQ(entry.tag, got);
      verify(in[got], got);
    }
  }
  e.rx().expect_empty();
}

// Many more completions than the queue was opened for: with FI_RM_ENABLED none is lost, though
// posting may have to wait until some are read.
CASE(more_completions_than_size) {
  request asked;
  asked.cq_size = 8;
  asked.separate_queues = true;
  endpoint e(asked);
  e.meet(t);
  constexpr std::size_t count = 500;
  std::vector<op> ops(count);
  std::vector<std::array<std::byte, 8>> buffers(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (t.first()) {
      fill(buffers[i], i);
      e.tsend(1, buffers[i], i, ops[i]);
    } else {
      e.trecv(buffers[i], i, ops[i]);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    (t.first() ? e.tx() : e.rx()).wait_ok(ops[i], fmt::format("operation {}", i));
    if (!t.first())
      verify(buffers[i], i);
  }
  t.barrier();
}

// While an error waits, reads say -FI_EAVAIL; it is read once, and the queue goes on.
CASE(error_entry, .ranks = 1) {
  request asked;
  asked.separate_queues = true;
  endpoint e(asked);
  e.meet(t);
  op cancelled, sent, received;
  std::array<std::byte, 8> into{}, content{};
  e.trecv(into, 1, cancelled);
  CHECK_OK(fi_cancel(&e.ep()->fid, &cancelled));
  fi_cq_tagged_entry entry{};
  ssize_t rc = 0;
  const auto end = std::chrono::steady_clock::now() + default_wait();
  while ((rc = fi_cq_read(e.rx().get(), &entry, 1)) == -FI_EAGAIN)
    CHECK(std::chrono::steady_clock::now() < end);
  CHECK_EQ(rc, static_cast<ssize_t>(-FI_EAVAIL));
  CHECK_CODE(-FI_EAVAIL, fi_cq_read(e.rx().get(), &entry, 1)); // still there
  char data[64];
  fi_cq_err_entry error{};
  error.err_data = data;
  error.err_data_size = sizeof data;
  CHECK_CODE(1, fi_cq_readerr(e.rx().get(), &error, 0));
  CHECK_EQ(error.err, FI_ECANCELED);
  CHECK(error.op_context == &cancelled);
  CHECK(error.err_data_size <= sizeof data);
  CHECK_CODE(-FI_EAGAIN, fi_cq_readerr(e.rx().get(), &error, 0));
  e.trecv(into, 2, received);
  e.tsend(0, content, 2, sent);
  e.rx().wait_ok(received, "receive after the error");
  e.tx().wait_ok(sent, "send");
}

CASE(strerror, .ranks = 1) {
  endpoint e;
  char buffer[100] = "";
  const char *text = fi_cq_strerror(e.rx().get(), FI_ETRUNC, nullptr, buffer, sizeof buffer);
  CHECK(text != nullptr && std::strlen(text) > 0);
  CHECK(fi_cq_strerror(e.rx().get(), FI_ETRUNC, nullptr, nullptr, 0) != nullptr);
  CHECK(std::memchr(buffer, 0, sizeof buffer) != nullptr);
  char tiny[4] = {'x', 'x', 'x', 'x'};
  fi_cq_strerror(e.rx().get(), FI_ETRUNC, nullptr, tiny, 3);
  CHECK_EQ(tiny[3], 'x');
}

// One queue for two endpoints.
CASE(shared_by_endpoints, .ranks = 1) {
  auto base = std::make_shared<fabric_and_domain>(find_info({}));
  endpoint a(base, {}), b(base, {.enable = false});
  owned_fid<fid_ep> second;
  CHECK_OK(fi_endpoint(a.domain(), const_cast<fi_info *>(&a.info()), second.out(), nullptr));
  CHECK_OK(fi_ep_bind(second.get(), &a.av()->fid, 0));
  CHECK_OK(fi_ep_bind(second.get(), &a.rx().get()->fid, FI_TRANSMIT | FI_RECV));
  CHECK_OK(fi_enable(second.get()));
  const fi_addr_t to_second = a.add(name_of(second.get()));
  op sent, received;
  guarded_buffer into(50);
  const auto content = payload(50, 1);
  POST(a,
       fi_trecv(second.get(), into.data(), into.size(), nullptr, FI_ADDR_UNSPEC, 1, 0, &received));
  POST(a, fi_tsend(a.ep(), content.data(), content.size(), nullptr, to_second, 1, &sent));
  a.rx().wait_ok(received, "receive at the second endpoint");
  a.rx().wait_ok(sent, "send of the first");
  verify(into.span(), 1);
}

} // namespace fabtest

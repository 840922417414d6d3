// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "completion.h"

#include "settings.h"

#include <algorithm>

#include <sched.h>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;

// One read takes at most this many bytes, whatever the format.
union any_entry {
  fi_cq_entry context;
  fi_cq_msg_entry msg;
  fi_cq_data_entry data;
  fi_cq_tagged_entry tagged;
};

completion convert(const any_entry &e, fi_cq_format format) {
  completion c;
  c.context = e.context.op_context;
  if (format >= FI_CQ_FORMAT_MSG) {
    c.flags = e.msg.flags;
    c.len = e.msg.len;
  }
  if (format >= FI_CQ_FORMAT_DATA) {
    c.buf = e.data.buf;
    c.data = e.data.data;
  }
  if (format >= FI_CQ_FORMAT_TAGGED)
    c.tag = e.tagged.tag;
  return c;
}

} // namespace

std::string describe(const completion &c) {
  if (c.err == 0)
    return fmt::format("completion (flags {:#x}, len {}, tag {:#x})", c.flags, c.len, c.tag);
  return fmt::format("error completion {} ({}), flags {:#x}, len {}, olen {}, tag {:#x}, "
                     "prov_errno {}",
                     c.err, fi_strerror(c.err), c.flags, c.len, c.olen, c.tag, c.prov_errno);
}

std::chrono::milliseconds default_wait() { return config().limit(10); }

queue::queue(fid_domain *domain, const fi_cq_attr &attr) : format_(attr.format) {
  fi_cq_attr copy = attr;
  CHECK_OK(fi_cq_open(domain, &copy, cq_.out(), this));
}

completion queue::read_error(where at) {
  fi_cq_err_entry e{};
  const ssize_t rc = fi_cq_readerr(cq_.get(), &e, 0);
  if (rc != 1)
    fail(fmt::format("fi_cq_readerr after -FI_EAVAIL returned {}", describe(rc)), at);
  if (e.err == 0)
    fail("an error entry with err 0", at);
  completion c;
  c.context = e.op_context;
  c.flags = e.flags;
  c.len = e.len;
  c.buf = e.buf;
  c.data = e.data;
  c.tag = e.tag;
  c.err = e.err;
  c.prov_errno = e.prov_errno;
  c.olen = e.olen;
  return c;
}

std::optional<completion> queue::read_one(where at) {
  any_entry e{};
  fi_addr_t source = FI_ADDR_NOTAVAIL;
  const ssize_t rc = fi_cq_readfrom(cq_.get(), &e, 1, &source);
  if (rc == 1) {
    completion c = convert(e, format_);
    c.source = source;
    return c;
  }
  if (rc == -FI_EAVAIL)
    return read_error(at);
  if (rc != -FI_EAGAIN)
    fail_call("fi_cq_readfrom", rc, at);
  return std::nullopt;
}

std::optional<completion> queue::kept() {
  if (kept_.empty())
    return std::nullopt;
  completion c = kept_.front();
  kept_.pop_front();
  return c;
}

std::optional<completion> queue::poll(where at) {
  if (auto c = kept())
    return c;
  return read_one(at);
}

completion queue::next(std::string_view what, std::chrono::milliseconds limit, where at) {
  const auto end = clock::now() + limit;
  for (;;) {
    if (auto c = poll(at))
      return *c;
    if (clock::now() > end)
      fail(fmt::format("no completion of {} after {} ms", what, limit.count()), at);
    drive_progress(this);
    sched_yield();
  }
}

std::optional<completion> queue::take_kept(const op &o) {
  const auto mine = std::ranges::find_if(kept_, [&](auto &c) { return c.is(o); });
  if (mine == kept_.end())
    return std::nullopt;
  completion c = *mine;
  kept_.erase(mine);
  return c;
}

completion queue::wait(const op &o, std::string_view what, std::chrono::milliseconds limit,
                       where at) {
  if (auto c = take_kept(o))
    return *c;
  const auto end = clock::now() + limit;
  for (;;) {
    if (auto c = read_one(at)) {
      if (c->is(o))
        return *c;
      kept_.push_back(*c);
      continue;
    }
    if (clock::now() > end)
      fail(fmt::format("no completion of {} after {} ms ({} others meanwhile)", what, limit.count(),
                       kept_.size()),
           at);
    drive_progress(this);
    sched_yield();
  }
}

completion queue::wait_ok(const op &o, std::string_view what, std::chrono::milliseconds limit,
                          where at) {
  completion c = wait(o, what, limit, at);
  if (c.err != 0)
    fail(fmt::format("{}: {}", what, describe(c)), at);
  return c;
}

void queue::drop(std::size_t count, std::string_view what, where at) {
  const auto end = clock::now() + default_wait();
  while (count > 0) {
    const auto c = poll(at);
    if (c && c->err != 0)
      fail(fmt::format("{}: {}", what, describe(*c)), at);
    count -= c.has_value();
    if (clock::now() > end)
      fail(fmt::format("{} completions of {} are missing", count, what), at);
  }
}

void queue::expect_silence(std::chrono::milliseconds span, where at) {
  const auto end = clock::now() + span;
  do {
    expect_empty(at);
    drive_progress(this);
    sched_yield();
  } while (clock::now() < end);
}

void queue::expect_empty(where at) {
  if (auto c = poll(at))
    fail(fmt::format("unexpected {}", describe(*c)), at);
}

void queue::make_progress() {
  // Not a read of 0 entries: several providers take that for an error or make no progress in it.
  // What arrives is kept, so that a queue of limited size doesn't stall its endpoint either.
  if (auto c = read_one(where::current()))
    kept_.push_back(*c);
}

} // namespace fabtest

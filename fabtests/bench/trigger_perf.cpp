// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Measures what deferred work costs: an add to a peer's counter, a hop of a chain that nobody
// drives by hand, and the trigger engine alone.
#include "bench/bench_main.h"
#include "common/command_line.h"
#include "common/counter.h"
#include "common/exposed.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include <rdma/fi_trigger.h>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;
using nanoseconds = std::chrono::duration<double, std::nano>;

request with_triggers(fi_progress progress) {
  return {.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_TRIGGER,
          .threading = progress == FI_PROGRESS_AUTO ? FI_THREAD_SAFE : FI_THREAD_DOMAIN,
          .progress = progress,
          .cq_size = 4096,
          .bind_flags = FI_SELECTIVE_COMPLETION,
          .counters = true};
}

void queue(endpoint &e, fi_deferred_work &work) {
  e.post("FI_QUEUE_WORK", [&] { return fi_control(&e.domain()->fid, FI_QUEUE_WORK, &work); });
}

// Microseconds from here to the peer and back, halved, for each of `hops` there and back.
std::vector<double> one_way(const std::vector<double> &nanoseconds_there_and_back) {
  std::vector<double> us;
  us.reserve(nanoseconds_there_and_back.size());
  for (const double ns : nanoseconds_there_and_back)
    us.push_back(ns / 2000);
  return us;
}

// An add goes back and forth: each side waits for its counter, then queues the work that adds to
// the other's, at a threshold that has been reached. Or adds without deferring it.
void measure_remote_add(team &t, const bench_options &options, const std::string &name,
                        fi_progress progress, bool deferred = true) {
  endpoint e(with_triggers(progress), "FI_TRIGGER");
  e.meet(t);
  const auto mine = open_counter(e), done = open_counter(e);
  const auto keys = t.exchange(export_counter(e, mine.get()));
  const fi_addr_t peer = e.at(t.other());
  fi_op_remote_cntr add{e.ep(), peer, keys[static_cast<std::size_t>(t.other())], 1, 0, nullptr};
  std::uint64_t count = 0, queued = 0;
  fi_dpdkx_ops_cntr &ops = counter_ops(e);
  const auto hop = [&](fi_deferred_work &work) {
    if (!deferred)
      return POST(e, ops.remote_add(e.ep(), peer, add.cntr_key, 1, 0, nullptr));
    work = {};
    work.threshold = count;
    work.triggering_cntr = mine.get();
    work.completion_cntr = done.get();
    ++queued;
    fi_dpdkx_set_remote_cntr_add(&work, &add);
    queue(e, work);
  };
  fi_deferred_work works[2];
  const auto wait = [&] { CHECK_OK(fi_cntr_wait(mine.get(), ++count, 20'000)); };
  const auto values = sample(t, options.how, [&](std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
      if (!t.first())
        wait();
      hop(works[i % 2]);
      if (t.first())
        wait();
    }
  });
  await_count(done.get(), queued); // until then their counters are in use
  print_figure(t, {name, "us", 8}, one_way(values));
  t.barrier();
}

// All works are queued before the first message goes: what arrives fires the next.
void measure_chain(team &t, const bench_options &options) {
  constexpr std::uint64_t hops = 1000; // of each side
  endpoint e(with_triggers(FI_PROGRESS_MANUAL), "FI_TRIGGER");
  e.meet(t);
  std::uint64_t in = 0, out = 0;
  const iovec to_send{&out, 8};
  std::vector<fi_deferred_work> works(hops);
  std::vector<fi_context2> contexts(hops);
  std::vector<double> values;
  std::uint64_t received = 0;
  for (int batch = 0; batch < options.how.batches; ++batch) {
    for (std::uint64_t i = 0; i < hops; ++i) {
      fi_msg_tagged receive{};
      const iovec into{&in, 8};
      receive.msg_iov = &into;
      receive.iov_count = 1;
      receive.addr = FI_ADDR_UNSPEC;
      receive.tag = 1;
      receive.context = &contexts[i];
      POST(e, fi_trecvmsg(e.ep(), &receive, 0));
      // The first side sends its first by hand, and lets the last end with it.
      if (t.first() && i + 1 == hops)
        continue;
      fi_op_tagged op{};
      op.ep = e.ep();
      op.msg.msg_iov = &to_send;
      op.msg.iov_count = 1;
      op.msg.addr = e.at(t.other());
      op.msg.tag = 1;
      op.flags = FI_INJECT;
      works[i] = {};
      works[i].threshold = received + i + 1;
      works[i].triggering_cntr = e.received();
      works[i].op_type = FI_OP_TSEND;
      works[i].op.tagged = &op;
      queue(e, works[i]);
    }
    t.barrier();
    const auto start = clock::now();
    if (t.first())
      POST(e, fi_tinject(e.ep(), &out, 8, e.at(t.other()), 1));
    received += hops;
    while (fi_cntr_read(e.received()) < received) {
    }
    values.push_back(nanoseconds(clock::now() - start).count() / hops);
  }
  print_figure(t, {"chain_hop", "us", 8}, one_way(values));
  t.barrier();
}

// The engine alone: a million works on one counter, which add to another.
void measure_engine(team &t, const bench_options &options) {
  constexpr std::uint64_t many = 1'000'000;
  endpoint e(with_triggers(FI_PROGRESS_MANUAL), "FI_TRIGGER");
  const auto trigger = open_counter(e), target = open_counter(e);
  const auto increment = [&] {
    constexpr std::uint64_t times = 100'000;
    const auto start = clock::now();
    for (std::uint64_t i = 0; i < times; ++i)
      fi_cntr_add(trigger.get(), 1);
    return nanoseconds(clock::now() - start).count() / times;
  };
  std::vector<double> alone, below, rate;
  std::vector<fi_deferred_work> works(many);
  std::uint64_t fired = 0;
  for (int batch = 0; batch < std::min(options.how.batches, 9); ++batch) {
    alone.push_back(increment());
    const std::uint64_t from = fi_cntr_read(trigger.get()) + many;
    for (std::uint64_t i = 0; i < many; ++i) {
      fi_op_cntr add{target.get(), 1};
      works[i] = {};
      works[i].threshold = from + i;
      works[i].triggering_cntr = trigger.get();
      works[i].op_type = FI_OP_CNTR_ADD;
      works[i].op.cntr = &add;
      queue(e, works[i]);
    }
    below.push_back(increment());
    fired += many;
    const auto start = clock::now();
    fi_cntr_add(trigger.get(), 2 * many);
    while (fi_cntr_read(target.get()) < fired) {
    }
    rate.push_back(many / nanoseconds(clock::now() - start).count() * 1000);
  }
  print_figure(t, {"fire_rate", "M/s", 8}, rate);
  print_figure(t, {"increment", "ns", 0}, alone);
  print_figure(t, {"increment", "ns", many}, below);
}

void measure(team &t, const bench_options &options) {
  const auto wanted = [&](std::string_view name) {
    return options.what.empty() || std::ranges::count(options.what, name) > 0;
  };
  if (wanted("remote_add"))
    measure_remote_add(t, options, "remote_add", FI_PROGRESS_MANUAL);
  if (wanted("immediate_add"))
    measure_remote_add(t, options, "immediate_add", FI_PROGRESS_MANUAL, false);
  if (wanted("chain_hop"))
    measure_chain(t, options);
  if (wanted("engine") && t.first())
    measure_engine(t, options);
  t.barrier();
  if (wanted("remote_add_auto"))
    measure_remote_add(t, options, "remote_add_auto", FI_PROGRESS_AUTO);
}

} // namespace

} // namespace fabtest

int main(int argc, char **argv) {
  fabtest::command_line app("Measures deferred work and counters of peers, between two processes.");
  fabtest::bench_options options;
  add_bench_options(app, options);
  if (const auto code = app.parse(argc, argv))
    return *code;
  return fabtest::run_bench([&](fabtest::team &t) { fabtest::measure(t, options); });
}

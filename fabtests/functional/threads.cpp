// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Threads: several on one endpoint (FI_THREAD_SAFE), and each with an endpoint or a domain of its
// own at the weaker levels.
#include "common/case.h"
#include "common/counter.h"
#include "common/forms.h"
#include "common/settings.h"

#include <atomic>
#include <thread>

#include <sched.h>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;

// Runs a body in so many threads; a failure in one of them fails the case.
template <class F> void in_threads(int count, const F &body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&body, i] {
      try {
        body(i);
      } catch (const std::exception &e) {
        fail_later(e.what());
      }
    });
  for (auto &thread : threads)
    thread.join();
}

// An operation whose completion may be found by any thread.
struct shared_op : op {
  std::atomic<int> done{0};
  std::atomic<int> err{0};
};

// Reads one completion, whoever's it is, and marks its operation.
void serve(fid_cq *cq) {
  fi_cq_tagged_entry entry{};
  const ssize_t rc = fi_cq_read(cq, &entry, 1);
  if (rc == 1) {
    ++static_cast<shared_op *>(static_cast<op *>(entry.op_context))->done;
  } else if (rc == -FI_EAVAIL) {
    fi_cq_err_entry error{};
    if (fi_cq_readerr(cq, &error, 0) == 1) {
      auto *o = static_cast<shared_op *>(static_cast<op *>(error.op_context));
      o->err = error.err;
      ++o->done;
    }
  } else if (rc != -FI_EAGAIN) {
    fail_call("fi_cq_read", rc);
  }
}

void wait_shared(fid_cq *cq, const shared_op &o, std::string_view what) {
  const auto end = clock::now() + config().limit(20);
  while (o.done == 0) {
    serve(cq);
    if (clock::now() > end)
      fail(fmt::format("no completion of {}", what));
    sched_yield();
  }
  if (o.err != 0)
    fail(fmt::format("{}: {}", what, fi_strerror(o.err)));
  if (o.done != 1)
    fail(fmt::format("{} completions of {}", o.done.load(), what));
}

void post_shared(fid_cq *cq, const std::function<ssize_t()> &attempt) {
  ssize_t rc = 0;
  while ((rc = attempt()) == -FI_EAGAIN) {
    serve(cq);
    sched_yield();
  }
  CHECK_OK(rc);
}

void await_shared_count(fid_cntr *cntr, std::uint64_t value) {
  const auto end = clock::now() + config().limit(20);
  while (fi_cntr_read(cntr) != value) {
    if (clock::now() > end)
      fail(fmt::format("{} counted; expected {}", fi_cntr_read(cntr), value));
    sched_yield();
  }
}

// A thread's part: messages in both directions under tags of its own.
void exchange(endpoint &e, fi_addr_t peer, int thread, int rounds) {
  fid_cq *cq = e.rx().get();
  for (int i = 0; i < rounds; ++i) {
    const auto tag = static_cast<std::uint64_t>(thread) << 32 | static_cast<unsigned>(i);
    const std::size_t size = i % 16 == 15 ? 100'000 : static_cast<std::size_t>(i * 7 % 900);
    shared_op sent, received;
    const auto content = payload(size, tag);
    std::vector<std::byte> into(size);
    post_shared(cq, [&] {
      return fi_trecv(e.ep(), into.data(), size, nullptr, FI_ADDR_UNSPEC, tag, 0, &received);
    });
    post_shared(cq,
                [&] { return fi_tsend(e.ep(), content.data(), size, nullptr, peer, tag, &sent); });
    wait_shared(cq, received, fmt::format("receive {} of thread {}", i, thread));
    wait_shared(cq, sent, fmt::format("send {} of thread {}", i, thread));
    verify(into, tag);
  }
}

} // namespace

CASE(one_endpoint, .seconds = 60) {
  endpoint e({.caps = FI_MSG | FI_TAGGED, .threading = FI_THREAD_SAFE});
  e.meet(t);
  in_threads(4, [&](int i) { exchange(e, e.at(t.other()), i, 300); });
  t.barrier();
}

// One thread reads all completions, others only post.
CASE(one_reader, .seconds = 60) {
  endpoint e({.caps = FI_MSG | FI_TAGGED, .threading = FI_THREAD_SAFE});
  e.meet(t);
  constexpr int posters = 3, each = 400;
  std::vector<shared_op> ops(posters * each);
  std::vector<std::vector<std::byte>> buffers(posters * each);
  std::atomic<int> left{posters};
  in_threads(posters + 1, [&](int thread) {
    if (thread == posters) {
      while (left > 0) {
        serve(e.rx().get());
        sched_yield();
      }
      return;
    }
    for (int i = 0; i < each; ++i) {
      const auto n = static_cast<std::size_t>(thread * each + i);
      buffers[n] = t.first() ? payload(n % 500, n) : std::vector<std::byte>(n % 500);
      ssize_t rc = 0;
      do {
        rc = t.first() ? fi_tsend(e.ep(), buffers[n].data(), n % 500, nullptr, e.at(1), n, &ops[n])
                       : fi_trecv(e.ep(), buffers[n].data(), n % 500, nullptr, FI_ADDR_UNSPEC, n, 0,
                                  &ops[n]);
        if (rc == -FI_EAGAIN)
          sched_yield();
      } while (rc == -FI_EAGAIN);
      CHECK_OK(rc);
    }
    --left;
  });
  for (std::size_t n = 0; n < ops.size(); ++n) {
    wait_shared(e.rx().get(), ops[n], fmt::format("operation {}", n));
    if (!t.first())
      verify(buffers[n], n);
  }
  t.barrier();
}

// Each thread with an endpoint and a queue of its own, in one domain.
CASE(endpoint_for_each, .seconds = 60) {
  for (const auto level :
       {FI_THREAD_SAFE, FI_THREAD_ENDPOINT, FI_THREAD_COMPLETION, FI_THREAD_FID}) {
    const request asked{.caps = FI_MSG | FI_TAGGED, .threading = level};
    auto base = std::make_shared<fabric_and_domain>(find_info(asked));
    std::vector<std::unique_ptr<endpoint>> endpoints;
    for (int i = 0; i < 3; ++i) {
      endpoints.push_back(std::make_unique<endpoint>(base, asked));
      endpoints.back()->meet(t);
    }
    in_threads(3, [&](int i) {
      auto &e = *endpoints[static_cast<std::size_t>(i)];
      exchange(e, e.at(t.other()), i, 150);
    });
    t.barrier();
  }
}

// Each thread with a domain of its own.
CASE(domain_for_each, .seconds = 60) {
  std::vector<std::unique_ptr<endpoint>> endpoints;
  for (int i = 0; i < 3; ++i) {
    endpoints.push_back(std::make_unique<endpoint>(
        request{.caps = FI_MSG | FI_TAGGED, .threading = FI_THREAD_DOMAIN}));
    endpoints.back()->meet(t);
  }
  in_threads(3, [&](int i) {
    auto &e = *endpoints[static_cast<std::size_t>(i)];
    exchange(e, e.at(t.other()), i, 200);
  });
  t.barrier();
}

// Each thread with an endpoint whose peers are those of the other threads, so that both ends of
// every path are in one process; in one domain, and with a domain for each.
CASE(peers_in_one_process, .ranks = 1, .seconds = 60) {
  constexpr std::size_t count = 3;
  for (const bool one_domain : {true, false}) {
    const request asked{.caps = FI_MSG | FI_TAGGED,
                        .threading = one_domain ? FI_THREAD_SAFE : FI_THREAD_DOMAIN};
    std::shared_ptr<fabric_and_domain> base;
    std::vector<std::unique_ptr<endpoint>> endpoints;
    for (std::size_t i = 0; i < count; ++i) {
      if (!one_domain || !base)
        base = std::make_shared<fabric_and_domain>(find_info(asked));
      endpoints.push_back(std::make_unique<endpoint>(base, asked));
    }
    in_threads(count, [&](int thread) {
      const auto i = static_cast<std::size_t>(thread);
      const fi_addr_t next = endpoints[i]->add(endpoints[(i + 1) % count]->name());
      exchange(*endpoints[i], next, 0, 300);
    });
  }
}

// Addresses come and go, and registrations, while messages flow.
CASE(control_calls_meanwhile, .seconds = 60) {
  endpoint e({.caps = FI_MSG | FI_TAGGED, .threading = FI_THREAD_SAFE});
  e.meet(t);
  std::atomic<bool> over{false};
  const bytes other = e.name_at(t.other());
  in_threads(3, [&](int i) {
    if (i == 0) {
      exchange(e, e.at(t.other()), i, 200);
      over = true;
    }
    while (i == 1 && !over) {
      std::vector<std::byte> memory(4096);
      owned_fid<fid_mr> mr;
      CHECK_OK(fi_mr_reg(e.domain(), memory.data(), memory.size(), FI_SEND | FI_RECV, 0, 1, 0,
                         mr.out(), nullptr));
      sched_yield();
    }
    while (i == 2 && !over) {
      fi_av_attr attr{};
      attr.type = FI_AV_TABLE;
      owned_fid<fid_av> av;
      CHECK_OK(fi_av_open(e.domain(), &attr, av.out(), nullptr));
      CHECK(insert(av.get(), other, e.info().addr_format) == 0);
      sched_yield();
    }
  });
  t.barrier();
}

// Receives are cancelled by another thread than the one that waits.
CASE(cancel_from_another, .ranks = 1) {
  endpoint e({.caps = FI_MSG | FI_TAGGED, .threading = FI_THREAD_SAFE});
  e.meet(t);
  constexpr std::size_t count = 300;
  std::vector<shared_op> ops(count);
  std::array<std::byte, 8> buffer{};
  for (auto &o : ops)
    post_shared(e.rx().get(), [&] {
      return fi_trecv(e.ep(), buffer.data(), 8, nullptr, FI_ADDR_UNSPEC, 1, 0, &o);
    });
  in_threads(2, [&](int i) {
    if (i == 0) {
      for (auto &o : ops)
        CHECK_OK(fi_cancel(&e.ep()->fid, static_cast<op *>(&o)));
      return;
    }
    const auto end = clock::now() + config().limit(10);
    for (auto &o : ops) {
      while (o.done == 0 && clock::now() < end)
        serve(e.rx().get());
      CHECK_EQ(o.done.load(), 1);
      CHECK_EQ(o.err.load(), FI_ECANCELED);
    }
  });
}

// Each thread adds to the counters of the others: at once, and by deferred work, of which it takes
// back some before they can fire.
CASE(counters_of_peers, .ranks = 1, .seconds = 60) {
  constexpr std::size_t count = 3;
  constexpr std::uint64_t rounds = 500;
  const request asked{.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_TRIGGER,
                      .threading = FI_THREAD_SAFE,
                      .bind_flags = FI_SELECTIVE_COMPLETION};
  const auto base = std::make_shared<fabric_and_domain>(find_info(asked, "FI_TRIGGER"));
  fi_dpdkx_ops_cntr &ops = counter_ops(base->domain.get());
  struct party {
    std::unique_ptr<endpoint> e;
    owned_fid<fid_cntr> cntr, done;
    std::uint64_t key = 0;
    std::vector<fi_deferred_work> works = std::vector<fi_deferred_work>(2 * rounds);
  } parties[count];
  for (party &p : parties) {
    p.e = std::make_unique<endpoint>(base, asked);
    p.cntr = open_counter(*p.e);
    p.done = open_counter(*p.e);
    p.key = export_counter(*p.e, p.cntr.get());
  }
  in_threads(count, [&](int thread) {
    const auto i = static_cast<std::size_t>(thread);
    party &self = parties[i];
    const party &next = parties[(i + 1) % count], &last = parties[(i + 2) % count];
    endpoint &e = *self.e;
    const fi_addr_t at_next = e.add(next.e->name()), at_last = e.add(last.e->name());
    const auto control = [&](int command, fi_deferred_work &work) {
      post_shared(e.rx().get(), [&] { return fi_control(&e.domain()->fid, command, &work); });
    };
    const auto queue = [&](fi_deferred_work &work, std::uint64_t threshold, fi_op_remote_cntr add) {
      work = {};
      work.threshold = threshold;
      work.triggering_cntr = self.cntr.get();
      work.completion_cntr = self.done.get();
      fi_dpdkx_set_remote_cntr_add(&work, &add);
      control(FI_QUEUE_WORK, work);
    };
    for (std::uint64_t n = 0; n < rounds; ++n) {
      post_shared(e.rx().get(),
                  [&] { return ops.remote_add(e.ep(), at_next, next.key, 1, 0, nullptr); });
      // The previous thread alone brings it to that.
      queue(self.works[2 * n], n + 1, {e.ep(), at_last, last.key, 1000, 0, nullptr});
      fi_deferred_work &never = self.works[2 * n + 1];
      queue(never, ~std::uint64_t{0}, {e.ep(), at_last, last.key, 1, 0, nullptr});
      control(FI_CANCEL_WORK, never);
    }
    await_shared_count(self.done.get(), rounds);
    await_shared_count(self.cntr.get(), rounds * 1001);
  });
}

} // namespace fabtest

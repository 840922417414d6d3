// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Messages a second between two hosts, of one pair of ranks or several at once: each sender keeps a
// window of messages under way. Ranks are in turn on the first host, which sends, and the second.
// One line of JSON for each size; see fabtests/bench/queues.
#include "bench/bench_main.h"
#include "common/command_line.h"
#include "common/endpoint.h"
#include "common/settings.h"

#include <chrono>
#include <cstdio>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;
using milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::uint64_t message_tag = 1, last_tag = 2;

struct rate_options {
  int pairs = 1;
  std::vector<std::size_t> sizes{8, 1024};
  std::size_t window = 64;
  double counted = 200; // ms; before that, half as long is not
};

clock::time_point in(double ms) {
  return clock::now() + std::chrono::duration_cast<clock::duration>(milliseconds(ms));
}

class side {
public:
  side(team &t, const rate_options &options, std::size_t size)
      : t_(t), options_(options), size_(size),
        e_({.caps = FI_TAGGED, .threading = FI_THREAD_DOMAIN, .cq_size = 4096}),
        ops_(2 * options.window), buffer_(size) {
    e_.meet(t);
  }

  void send() {
    std::size_t open = 0;
    // From when messages pass, until the receiver has counted for sure.
    std::optional<clock::time_point> end;
    while (!end || clock::now() < *end) {
      while (open < options_.window && post_send(size_, message_tag))
        ++open;
      const std::size_t before = open;
      take([&](const fi_cq_tagged_entry &) { --open; });
      if (!end && open < before)
        end = in(2 * options_.counted);
    }
    while (!post_send(0, last_tag))
      take([&](const fi_cq_tagged_entry &) { --open; });
    for (++open; open != 0;)
      take([&](const fi_cq_tagged_entry &) { --open; });
  }

  // Messages a second.
  double receive() {
    for (op &o : ops_)
      post_receive(o);
    clock::time_point begin, end, first, last; // of what is counted; of those of it that came
    std::uint64_t total = 0, count = 0;
    for (bool over = false; !over;) {
      std::uint64_t came = 0;
      take([&](const fi_cq_tagged_entry &c) {
        over |= c.tag == last_tag;
        ++came;
        post_receive(*static_cast<op *>(c.op_context));
      });
      if (came == 0 || over)
        continue;
      const auto now = clock::now();
      if (std::exchange(total, total + came) == 0) {
        begin = in(0.5 * options_.counted);
        end = in(1.5 * options_.counted);
      }
      if (now < begin || now > end)
        continue;
      if (first == clock::time_point{})
        first = now;
      else
        count += came;
      last = now;
    }
    const double took = std::chrono::duration<double>(last - first).count();
    return took > 0 ? static_cast<double>(count) / took : 0;
  }

private:
  bool post_send(std::size_t size, std::uint64_t tag) {
    const auto to = e_.at(t_.rank() + 1);
    const ssize_t rc = fi_tsend(e_.ep(), buffer_.data(), size, nullptr, to, tag, &ops_.front());
    if (rc != 0 && rc != -FI_EAGAIN)
      fail_call("fi_tsend", rc);
    return rc == 0;
  }

  void post_receive(op &o) {
    ssize_t rc = 0;
    while ((rc = fi_trecv(e_.ep(), buffer_.data(), size_, nullptr, FI_ADDR_UNSPEC, 0, ~0ull, &o)) ==
           -FI_EAGAIN)
      fi_cq_read(e_.tx().get(), nullptr, 0);
    if (rc != 0)
      fail_call("fi_trecv", rc);
  }

  template <class Each> void take(const Each &each) {
    fi_cq_tagged_entry entries[32];
    const ssize_t n = fi_cq_read(e_.tx().get(), entries, std::size(entries));
    if (n == -FI_EAVAIL)
      fail(describe(*e_.tx().poll()));
    if (n < 0 && n != -FI_EAGAIN)
      fail_call("fi_cq_read", n);
    for (ssize_t i = 0; i < n; ++i)
      each(entries[i]);
  }

  team &t_;
  const rate_options &options_;
  const std::size_t size_;
  endpoint e_;
  std::vector<op> ops_;
  bytes buffer_;
};

void measure(team &t, const rate_options &options) {
  for (const std::size_t size : options.sizes) {
    side s(t, options, size);
    t.barrier_without_progress();
    double rate = 0;
    if (t.rank() % 2 == 0)
      s.send();
    else
      rate = s.receive();
    const auto rates = t.exchange(rate);
    if (t.first())
      fmt::print("{{\"pairs\": {}, \"size\": {}, \"rate\": {:.0f}}}\n", options.pairs, size,
                 std::accumulate(rates.begin(), rates.end(), 0.0));
    std::fflush(stdout);
  }
}

} // namespace

} // namespace fabtest

int main(int argc, char **argv) {
  fabtest::command_line app("Messages a second between two hosts.");
  fabtest::rate_options options;
  fabtest::add_options(app);
  app.add("--pairs", options.pairs, "of ranks, at once").between(1, 64);
  app.add("--sizes", options.sizes, "bytes of a message").comma_separated();
  app.add("--window", options.window, "messages under way, of each sender").between(1, 1024);
  app.add("--ms", options.counted, "that are counted for each size");
  if (const auto code = app.parse(argc, argv))
    return *code;
  return fabtest::run_bench([&](fabtest::team &t) { fabtest::measure(t, options); },
                            2 * options.pairs);
}

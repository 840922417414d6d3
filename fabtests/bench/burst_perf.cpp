// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Bursts of small messages to a rank that computes, over a real device: how many datagrams get
// lost, how long messages take. The first rank receives, the second sends, from several endpoints.
// One line of JSON a burst; see fabtests/bench/queues.
#include "bench/bench_main.h"
#include "common/command_line.h"
#include "common/endpoint.h"
#include "common/settings.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto silence = 200ms; // what hasn't come after so long, is lost

struct burst_options {
  std::vector<std::string> traffic{"datagrams", "messages"};
  std::vector<std::uint32_t> counts{16, 256, 4096};
  std::vector<double> computes{0, 1, 10, 50}; // ms
  std::uint32_t senders = 16;
  std::size_t size = 8;
  int runs = 1;
};

request of(const std::string &traffic) {
  request r;
  r.type = traffic == "datagrams" ? FI_EP_DGRAM : FI_EP_RDM;
  r.caps = FI_MSG;
  r.order = 0;
  r.cq_size = 16384;
  return r;
}

// The same for ranks of one host, whose clocks are one.
std::size_t boot() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return std::hash<std::string>{}(id);
}

double microseconds(clock::duration d) {
  return std::chrono::duration<double, std::micro>(d).count();
}

// One that is there now, also if it was read while this process waited for the other.
std::optional<completion> next_of(queue &q) {
  auto c = q.kept();
  return c ? c : q.poll();
}

struct outcome_of_burst {
  std::uint32_t received = 0;
  std::vector<clock::time_point> at; // of each, in order
  clock::time_point computed;        // when the rank called the library again
};

class side {
public:
  side(team &t, const burst_options &options, const std::string &traffic)
      : t_(t), options_(options), receiver_(of(traffic)) {
    receiver_.meet(t);
    if (t.first())
      return;
    for (std::uint32_t i = 0; i < options.senders; ++i) {
      auto sender = std::make_unique<endpoint>(receiver_.base(), of(traffic));
      targets_.push_back(sender->add(receiver_.name_at(0)));
      senders_.push_back(std::move(sender));
    }
  }

  // From each endpoint until something has come from it, or enough has.
  void warm_up() {
    for (std::uint32_t i = 0; i < options_.senders; ++i)
      for (bool arrived = false; !arrived;) {
        op o;
        if (t_.first()) {
          receiver_.recv(buffer_, o);
          const auto end = clock::now() + 2s;
          while (!arrived && clock::now() < end)
            arrived = next_of(receiver_.rx()).has_value();
          if (!arrived)
            (void)fi_cancel(&receiver_.ep()->fid, &o);
          while (!arrived && !next_of(receiver_.rx())) {
          }
        } else {
          post(i);
        }
        arrived = t_.exchange(arrived)[0];
      }
  }

  outcome_of_burst receive(std::uint32_t count, clock::duration compute) {
    std::vector<op> ops(count);
    for (op &o : ops)
      receiver_.recv(buffer_, o);
    outcome_of_burst out;
    t_.barrier(); // all that was posted is there
    t_.barrier_without_progress();
    const auto until = clock::now() + compute;
    while (clock::now() < until) {
    }
    out.computed = clock::now();
    auto last = out.computed;
    // A burst may begin a little later than this, and takes its time.
    while (out.received < count && clock::now() - last < silence)
      if (const auto c = next_of(receiver_.rx())) {
        if (c->err != 0)
          fail(describe(*c));
        ++out.received;
        out.at.push_back(last = clock::now());
      }
    t_.barrier();
    // What has been lost leaves receives behind.
    for (op &o : ops)
      (void)fi_cancel(&receiver_.ep()->fid, &o);
    for (std::uint32_t left = count - out.received; left != 0;)
      left -= next_of(receiver_.rx()).has_value();
    return out;
  }

  clock::time_point send(std::uint32_t count) {
    t_.barrier();
    t_.barrier_without_progress();
    const auto begin = clock::now();
    for (std::uint32_t i = 0; i < count; ++i)
      post(i % options_.senders);
    while (unsent_ != 0)
      for (const auto &sender : senders_)
        take(*sender);
    t_.barrier();
    return begin;
  }

private:
  void post(std::uint32_t i) {
    endpoint &e = *senders_[i];
    ssize_t rc = 0;
    while ((rc = fi_send(e.ep(), buffer_.data(), options_.size, nullptr, targets_[i], &op_)) ==
           -FI_EAGAIN)
      take(e);
    if (rc != 0)
      fail_call("fi_send", rc);
    ++unsent_;
    take(e);
  }
  void take(endpoint &e) {
    if (const auto c = next_of(e.tx())) {
      if (c->err != 0)
        fail(describe(*c));
      --unsent_;
    }
  }

  team &t_;
  const burst_options &options_;
  endpoint receiver_;
  std::vector<std::unique_ptr<endpoint>> senders_;
  std::vector<fi_addr_t> targets_;
  bytes buffer_ = bytes(4096);
  op op_;
  std::uint64_t unsent_ = 0;
};

void print(const burst_options &options, const std::string &traffic, std::uint32_t count,
           double compute, const outcome_of_burst &out, std::optional<clock::time_point> begin,
           int run) {
  fmt::print("{{\"traffic\": \"{}\", \"senders\": {}, \"count\": {}, \"size\": {}, "
             "\"compute_ms\": {}, \"run\": {}, \"received\": {}, \"lost\": {}",
             traffic, options.senders, count, options.size, compute, run, out.received,
             count - out.received);
  if (!out.at.empty()) {
    fmt::print(", \"after_computing_us\": {:.3f}", microseconds(out.at.back() - out.computed));
    if (begin)
      fmt::print(", \"median_us\": {:.3f}, \"last_us\": {:.3f}",
                 microseconds(out.at[out.at.size() / 2] - *begin),
                 microseconds(out.at.back() - *begin));
  }
  fmt::print("}}\n");
  std::fflush(stdout);
}

void measure(team &t, const burst_options &options) {
  const auto boots = t.exchange(boot());
  for (const std::string &traffic : options.traffic) {
    side s(t, options, traffic);
    s.warm_up();
    for (int run = 1; run <= options.runs; ++run)
      for (const double compute : options.computes)
        for (const std::uint32_t count : options.counts) {
          outcome_of_burst out;
          clock::time_point begin{};
          if (t.first())
            out = s.receive(count, std::chrono::duration_cast<clock::duration>(
                                       std::chrono::duration<double, std::milli>(compute)));
          else
            begin = s.send(count);
          const auto begins = t.exchange(begin.time_since_epoch().count());
          if (t.first())
            print(options, traffic, count, compute, out,
                  boots[0] == boots[1]
                      ? std::optional(clock::time_point(clock::duration(begins[1])))
                      : std::nullopt,
                  run);
        }
    t.barrier();
  }
}

} // namespace

} // namespace fabtest

int main(int argc, char **argv) {
  fabtest::command_line app("Bursts of small messages to a rank that computes.");
  fabtest::burst_options options;
  fabtest::config().pin = true;
  fabtest::add_options(app);
  app.add("--traffic", options.traffic, "datagrams (FI_EP_DGRAM), messages (FI_EP_RDM)")
      .comma_separated()
      .one_of({"datagrams", "messages"});
  app.add("--count", options.counts, "messages of a burst").comma_separated();
  app.add("--compute", options.computes, "ms that the rank computes").comma_separated();
  app.add("--senders", options.senders, "endpoints that send");
  app.add("--size", options.size, "bytes of a message").between(1, 1024);
  app.add("--runs", options.runs, "of all bursts, in turn");
  if (const auto code = app.parse(argc, argv))
    return *code;
  return fabtest::run_bench([&](fabtest::team &t) { fabtest::measure(t, options); });
}

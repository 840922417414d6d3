// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Measures what a libfabric provider's operations on a peer's memory cost, from the call to the
// completion: one at a time, and large writes many at a time.
#include "bench/bench_main.h"
#include "bench/raw_endpoint.h"
#include "common/command_line.h"
#include "common/exposed.h"

#include <algorithm>
#include <functional>

#include <rdma/fi_atomic.h>

namespace fabtest {

namespace {

constexpr std::uint64_t end_tag = 7;
constexpr std::size_t region_size = 4 << 20;

// The first rank operates on the memory of the second, which polls, as a program does that waits
// for something else.
class remote_bench {
public:
  explicit remote_bench(team &t)
      : t_(t), e_(t, FI_RMA | FI_ATOMIC), memory_(e_.opened(), region_size) {
    memory_.meet(t);
    std::ranges::fill(buffer_, std::byte{1});
  }

  // Repetitions of `work` by the first rank; the second learns when they are over.
  void run(const std::function<void()> &work, std::uint64_t repetitions) {
    if (t_.first()) {
      for (std::uint64_t i = 0; i < repetitions; ++i)
        work();
      e_.tsend(nullptr, 0, end_tag, &end_);
    } else {
      e_.trecv(nullptr, 0, end_tag, &end_);
    }
    e_.next();
  }

  // Delivered, and one completion for each.
  void post_write(std::size_t size) {
    iovec from{buffer_.data(), size};
    fi_rma_iov to = there(size);
    fi_msg_rma msg{};
    msg.msg_iov = &from;
    msg.iov_count = 1;
    msg.addr = e_.peer();
    msg.rma_iov = &to;
    msg.rma_iov_count = 1;
    msg.context = &op_;
    e_.retry("fi_writemsg",
             [&] { return fi_writemsg(e_.ep(), &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE); });
  }

  void write(std::size_t size) {
    post_write(size);
    e_.next();
  }

  void read(std::size_t size) {
    const fi_rma_iov from = there(size);
    e_.retry("fi_read", [&] {
      return fi_read(e_.ep(), buffer_.data(), size, nullptr, e_.peer(), from.addr, from.key, &op_);
    });
    e_.next();
  }

  void fetch() {
    const fi_rma_iov at = there(sizeof operand_);
    e_.retry("fi_fetch_atomic", [&] {
      return fi_fetch_atomic(e_.ep(), &operand_, 1, nullptr, &former_, nullptr, e_.peer(), at.addr,
                             at.key, FI_UINT64, FI_SUM, &op_);
    });
    e_.next();
  }

  void write_window(std::size_t size, std::size_t window) {
    for (std::size_t i = 0; i < window; ++i)
      post_write(size);
    for (std::size_t i = 0; i < window; ++i)
      e_.next();
  }

  void read_window(std::size_t size, std::size_t window) {
    const fi_rma_iov from = there(size);
    for (std::size_t i = 0; i < window; ++i)
      e_.retry("fi_read", [&] {
        return fi_read(e_.ep(), buffer_.data(), size, nullptr, e_.peer(), from.addr, from.key,
                       &op_);
      });
    for (std::size_t i = 0; i < window; ++i)
      e_.next();
  }

  // Each sum has raised the element by as much.
  void check_fetched(std::uint64_t sums) {
    if (t_.first())
      CHECK_EQ(former_, (sums - 1) * operand_);
  }

private:
  [[nodiscard]] fi_rma_iov there(std::size_t size) const { return memory_.at(t_.other(), 0, size); }

  team &t_;
  raw_endpoint e_;
  exposed memory_;
  bytes buffer_ = bytes(region_size);
  std::uint64_t operand_ = 1, former_ = 0;
  op op_, end_;
};

class measuring {
public:
  measuring(team &t, remote_bench &bench, const bench_options &options)
      : t_(t), bench_(bench), options_(options) {}

  [[nodiscard]] bool wanted(std::string_view name) const {
    return options_.what.empty() || std::ranges::count(options_.what, name) > 0;
  }

  void one_at_a_time(const std::string &what, std::size_t size, const std::function<void()> &work) {
    if (!wanted(what))
      return;
    auto values = sample(t_, options_.how, [&](std::uint64_t n) { bench_.run(work, n); });
    for (auto &v : values)
      v /= 1000; // nanoseconds → microseconds
    print_figure(t_, {what, "us", size}, values);
  }

  void bandwidth(const std::string &what, std::size_t size,
                 const std::function<void(std::size_t window)> &work) {
    if (!wanted(what))
      return;
    constexpr std::size_t window = 16;
    auto values =
        sample(t_, options_.how, [&](std::uint64_t n) { bench_.run([&] { work(window); }, n); });
    for (auto &v : values)
      v = static_cast<double>(window * size) / v; // bytes a nanosecond = GB/s
    print_figure(t_, {what, "GB/s", size}, values);
  }

private:
  team &t_;
  remote_bench &bench_;
  const bench_options &options_;
};

void measure(team &t, const bench_options &options) {
  remote_bench bench(t);
  measuring m(t, bench, options);
  std::uint64_t sums = 0;
  m.one_at_a_time("fetch", 8, [&] { // first: the element begins with 0
    bench.fetch();
    ++sums;
  });
  if (m.wanted("fetch"))
    bench.check_fetched(sums);
  for (const std::size_t size : options.sizes) {
    m.one_at_a_time("write", size, [&] { bench.write(size); });
    m.one_at_a_time("read", size, [&] { bench.read(size); });
    if (size < 65536)
      continue;
    m.bandwidth("write_bandwidth", size,
                [&](std::size_t window) { bench.write_window(size, window); });
    m.bandwidth("read_bandwidth", size,
                [&](std::size_t window) { bench.read_window(size, window); });
  }
  t.barrier();
}

} // namespace

} // namespace fabtest

int main(int argc, char **argv) {
  fabtest::command_line app(
      "Measures a libfabric provider's RMA and atomics between two processes.");
  fabtest::bench_options options;
  options.sizes = {8, 1024, 65536, 1048576};
  add_bench_options(app, options);
  if (const auto code = app.parse(argc, argv))
    return *code;
  return fabtest::run_bench([&](fabtest::team &t) { fabtest::measure(t, options); });
}

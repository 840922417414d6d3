// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Measures a libfabric provider between two processes: tagged latency, message rate, bandwidth.
#include "bench/bench_main.h"
#include "bench/raw_endpoint.h"
#include "common/command_line.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>

namespace fabtest {

namespace {

constexpr std::uint64_t ack_tag = std::uint64_t{1} << 40;

void measure_latency(team &t, raw_endpoint &e, std::size_t size, const sampling &how) {
  std::vector<std::byte> out = payload(size, 1), in(size);
  op sent, received;
  int open_sends = 0;
  const auto wait_for_message = [&] {
    for (;;) {
      if (e.next().op_context == &received)
        return;
      --open_sends;
    }
  };
  const auto send = [&] {
    while (open_sends > 0 && e.next().op_context == &sent)
      --open_sends; // the buffer's last send is over before it is sent again
    open_sends += e.tsend_or_inject(out.data(), size, 1, &sent);
  };
  auto values = sample(t, how, [&](std::uint64_t repetitions) {
    for (std::uint64_t i = 0; i < repetitions; ++i) {
      e.trecv(in.data(), size, 1, &received);
      if (!t.first())
        wait_for_message();
      send();
      if (t.first())
        wait_for_message();
    }
  });
  while (open_sends > 0 && e.next().op_context == &sent)
    --open_sends;
  verify(in, 1);
  for (auto &v : values)
    v /= 2000; // nanoseconds of a round trip → microseconds one way
  print_figure(t, {"latency", "us", size}, values);
}

// A window of messages with tags of their own, each with a completion at both ends; then one back.
class window_flow {
public:
  window_flow(team &t, raw_endpoint &e, std::size_t size, std::size_t window, bool check)
      : t_(t), e_(e), size_(size), window_(window), check_(check),
        stride_(std::max<std::size_t>(size, 64)), buffer_(check ? stride_ * window : size),
        ops_(window) {
    if (!t_.first())
      post_receives(0);
  }

  void run(std::uint64_t repetitions) {
    for (std::uint64_t i = 0; i < repetitions; ++i, ++round_)
      t_.first() ? send_window() : receive_window();
  }

  // The receives of a window that won't come are matched by one last window.
  void finish() {
    last_ = true;
    run(1);
  }

private:
  std::byte *slot(std::size_t i) { return buffer_.data() + (check_ ? i * stride_ : 0); }
  [[nodiscard]] std::uint64_t number(std::size_t i) const { return round_ * window_ + i; }

  void post_receives(std::uint64_t) {
    for (std::size_t i = 0; i < window_; ++i)
      e_.trecv(slot(i), size_, i, &ops_[i]);
  }

  void send_window() {
    for (std::size_t i = 0; i < window_; ++i) {
      if (check_) {
        const std::uint64_t n = number(i);
        std::memcpy(slot(i), &n, sizeof n);
      }
      e_.tsend(slot(i), size_, i, &ops_[i]);
    }
    e_.trecv(nullptr, 0, ack_tag, &ack_);
    for (std::size_t left = window_ + 1; left > 0; --left)
      e_.next();
  }

  void receive_window() {
    for (std::size_t left = window_; left > 0; --left) {
      const fi_cq_tagged_entry c = e_.next();
      if (check_)
        check_entry(c);
    }
    if (!last_)
      post_receives(0);
    if (e_.tsend_or_inject(nullptr, 0, ack_tag, &ack_))
      e_.next();
  }

  void check_entry(const fi_cq_tagged_entry &c) {
    const auto i = static_cast<std::size_t>(static_cast<op *>(c.op_context) - ops_.data());
    std::uint64_t n = 0;
    if (i >= window_ || c.tag != i || c.len != size_)
      fail(fmt::format("tag {:#x} and {} bytes for receive {}", c.tag, c.len, i));
    std::memcpy(&n, slot(i), sizeof n);
    if (n != number(i))
      fail(fmt::format("receive {} got message {}, expected {}", i, n, number(i)));
  }

  team &t_;
  raw_endpoint &e_;
  std::size_t size_, window_;
  bool check_;
  std::size_t stride_;
  std::vector<std::byte> buffer_;
  std::vector<op> ops_;
  op ack_;
  std::uint64_t round_ = 0;
  bool last_ = false;
};

std::vector<double> measure_windows(team &t, raw_endpoint &e, std::size_t size, std::size_t window,
                                    bool check, const sampling &how) {
  window_flow flow(t, e, size, window, check);
  auto values = sample(t, how, [&](std::uint64_t n) { flow.run(n); });
  flow.finish();
  return values;
}

void measure_rate(team &t, raw_endpoint &e, const sampling &how) {
  constexpr std::size_t window = 64;
  auto values = measure_windows(t, e, 8, window, true, how);
  for (auto &v : values)
    v = window * 1e3 / v; // nanoseconds a window → millions of messages a second
  print_figure(t, {"rate", "M/s", 8}, values);
}

void measure_bandwidth(team &t, raw_endpoint &e, std::size_t size, const sampling &how) {
  const std::size_t window = size >= (256 << 10) ? 16 : 64;
  auto values = measure_windows(t, e, size, window, false, how);
  for (auto &v : values)
    v = static_cast<double>(window * size) / v; // bytes a nanosecond = GB/s
  print_figure(t, {"bandwidth", "GB/s", size}, values);
}

bool wanted(const bench_options &options, std::string_view name) {
  return options.what.empty() || std::ranges::count(options.what, name) > 0;
}

void measure(team &t, const bench_options &options) {
  raw_endpoint e(t);
  for (const std::size_t size : options.sizes)
    if (wanted(options, "latency"))
      measure_latency(t, e, size, options.how);
  if (wanted(options, "rate"))
    measure_rate(t, e, options.how);
  for (const std::size_t size : options.sizes)
    if (wanted(options, "bandwidth") && size >= 1024)
      measure_bandwidth(t, e, size, options.how);
  t.barrier();
}

} // namespace

} // namespace fabtest

int main(int argc, char **argv) {
  fabtest::command_line app("Measures a libfabric provider between two processes.");
  fabtest::bench_options options;
  options.sizes = {0,    8,     32,    64,    128,    256,     1024,   2048,
                   4096, 13312, 16384, 65536, 262144, 1048576, 4194304};
  add_bench_options(app, options);
  if (const auto code = app.parse(argc, argv))
    return *code;
  return fabtest::run_bench([&](fabtest::team &t) { fabtest::measure(t, options); });
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the kernel's TCP and UDP cost between two processes that poll without sleeping.
#include "bench/bench_main.h"
#include "common/address.h"
#include "common/check.h"
#include "common/command_line.h"
#include "common/settings.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <netinet/tcp.h>
#include <sys/socket.h>

namespace fabtest {

namespace {

[[noreturn]] void fail_errno(std::string_view call) {
  fail(fmt::format("{}: {}", call, std::strerror(errno)));
}

bool try_again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

struct endpoint_address {
  sockaddr_in in{};
};

sockaddr *as_sockaddr(endpoint_address &a) { return reinterpret_cast<sockaddr *>(&a.in); }

unique_fd bound_socket(int type, endpoint_address &own) {
  unique_fd fd(socket(AF_INET, type | SOCK_CLOEXEC, 0));
  const bytes wanted = socket_address(config().node.empty() ? "127.0.0.1" : config().node, 0);
  std::memcpy(&own.in, wanted.data(), sizeof own.in);
  socklen_t size = sizeof own.in;
  if (!fd || bind(fd.get(), as_sockaddr(own), size) != 0 ||
      getsockname(fd.get(), as_sockaddr(own), &size) != 0)
    fail_errno("binding a socket");
  return fd;
}

unique_fd connected_udp(team &t) {
  endpoint_address own;
  unique_fd fd = bound_socket(SOCK_DGRAM, own);
  auto peer = t.exchange(own)[static_cast<std::size_t>(t.other())];
  if (connect(fd.get(), as_sockaddr(peer), sizeof peer.in) != 0)
    fail_errno("connecting a UDP socket");
  t.barrier();
  return fd;
}

unique_fd connected_tcp(team &t) {
  endpoint_address own;
  unique_fd fd = bound_socket(SOCK_STREAM, own);
  if (!t.first() && listen(fd.get(), 1) != 0)
    fail_errno("listen");
  auto peer = t.exchange(own)[1];
  if (t.first()) {
    if (connect(fd.get(), as_sockaddr(peer), sizeof peer.in) != 0)
      fail_errno("connecting a TCP socket");
  } else {
    fd = unique_fd(accept4(fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd)
      fail_errno("accept");
  }
  const int on = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

void send_all(int fd, const std::byte *data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && !try_again())
      fail_errno("send");
    if (n > 0) {
      data += n;
      size -= static_cast<std::size_t>(n);
    }
  }
}

void receive_all(int fd, std::byte *data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = recv(fd, data, size, MSG_DONTWAIT);
    if (n == 0)
      fail("the other side closed");
    if (n < 0 && !try_again())
      fail_errno("recv");
    if (n > 0) {
      data += n;
      size -= static_cast<std::size_t>(n);
    }
  }
}

// An empty message still needs a byte to be noticed.
void measure_stream(team &t, std::size_t size, int fd, const std::string &what,
                    const sampling &how) {
  std::vector<std::byte> buffer(std::max<std::size_t>(size, 1));
  auto values = sample(t, how, [&](std::uint64_t repetitions) {
    for (std::uint64_t i = 0; i < repetitions; ++i) {
      if (t.first())
        send_all(fd, buffer.data(), buffer.size());
      receive_all(fd, buffer.data(), buffer.size());
      if (!t.first())
        send_all(fd, buffer.data(), buffer.size());
    }
  });
  for (auto &v : values)
    v /= 2000; // nanoseconds of a round trip → microseconds one way
  print_figure(t, {what, "us", size}, values);
}

void measure(team &t, const bench_options &options) {
  const auto wanted = [&](std::string_view name) {
    return options.what.empty() || std::ranges::count(options.what, name) > 0;
  };
  if (wanted("kernel_udp")) {
    const unique_fd fd = connected_udp(t);
    for (const std::size_t size : options.sizes)
      if (size <= 1400) // one frame: more would measure fragments
        measure_stream(t, size, fd.get(), "kernel_udp", options.how);
  }
  if (wanted("kernel_tcp")) {
    const unique_fd fd = connected_tcp(t);
    for (const std::size_t size : options.sizes)
      measure_stream(t, size, fd.get(), "kernel_tcp", options.how);
  }
}

} // namespace

} // namespace fabtest

int main(int argc, char **argv) {
  fabtest::command_line app("Measures kernel TCP and UDP between two processes.");
  fabtest::bench_options options;
  options.sizes = {8, 256, 1024, 2048, 4096, 16384, 65536};
  add_bench_options(app, options);
  if (const auto code = app.parse(argc, argv))
    return *code;
  return fabtest::run_bench([&](fabtest::team &t) { fabtest::measure(t, options); });
}

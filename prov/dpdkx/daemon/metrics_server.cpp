// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/metrics_server.h"

#include "dpdkx/base/thread.h"
#include "dpdkx/daemon/metrics.h"
#include "dpdkx/net/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dpdkx::daemon {

namespace {

constexpr std::string_view end_of_head = "\r\n\r\n";

std::string reply(std::string_view status, std::string_view type, std::string_view body,
                  bool with_body = true) {
  std::string out = "HTTP/1.1 " + std::string(status) + "\r\nContent-Type: " + std::string(type) +
                    "\r\nContent-Length: " + std::to_string(body.size()) +
                    "\r\nConnection: close\r\n";
  if (status.starts_with("405"))
    out += "Allow: GET, HEAD\r\n";
  return out + "\r\n" + std::string(with_body ? body : "");
}

std::string refusal(std::string_view status) {
  return reply(status, "text/plain", std::string(status) + "; allowed: GET /metrics\n");
}

// Address families in one.
struct SocketAddress {
  explicit SocketAddress(const Address &address) {
    if (address.is_v4()) {
      v4.sin_family = AF_INET;
      v4.sin_port = htons(address.port);
      v4.sin_addr.s_addr = htonl(address.v4_host_order());
      size = sizeof(v4);
    } else {
      v6 = {};
      v6.sin6_family = AF_INET6;
      v6.sin6_port = htons(address.port);
      std::memcpy(&v6.sin6_addr, address.ip.data(), address.ip.size());
      size = sizeof(v6);
    }
  }
  sockaddr *get() { return reinterpret_cast<sockaddr *>(&v6); }
  std::uint16_t port() const { return ntohs(v6.sin6_port); } // at the same place in both

  union {
    sockaddr_in v4;
    sockaddr_in6 v6{};
  };
  socklen_t size;
};

} // namespace

std::string http_answer(std::string_view head, const Metrics &metrics) {
  auto line = head.substr(0, std::min(head.find("\r\n"), head.size()));
  const auto method = net::cut(line, " ");
  auto target = net::cut(line, " ");
  if (!line.starts_with("HTTP/1.") || target.empty() || target.front() != '/')
    return refusal("400 Bad Request");
  if (method != "GET" && method != "HEAD")
    return refusal("405 Method Not Allowed");
  if (net::cut(target, "?") != "/metrics")
    return refusal("404 Not Found");
  const auto body = metrics();
  return body ? reply("200 OK", metrics_content_type, *body, method == "GET")
              : reply("503 Service Unavailable", "text/plain", "", false);
}

MetricsServer::~MetricsServer() {
  if (thread_.joinable()) {
    eventfd_write(end_, 1);
    thread_.join();
  }
  for (const int fd : {listener_, end_})
    if (fd >= 0)
      close(fd);
}

int MetricsServer::listen_at(const Address &address, std::string &error) {
  SocketAddress at(address);
  const int reuse = 1;
  listener_ = socket(at.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  end_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (listener_ >= 0 && end_ >= 0 &&
      setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse)) == 0 &&
      bind(listener_, at.get(), at.size) == 0 && listen(listener_, 16) == 0 &&
      getsockname(listener_, at.get(), &at.size) == 0) {
    port_ = at.port();
    return 0;
  }
  const int rc = errno;
  error = "metrics: '" + to_string(address) + "': " + std::strerror(rc) +
          "; allowed: an address of this host, and a TCP port that nobody listens at";
  return -rc;
}

int MetricsServer::start(const Address &address, Metrics metrics, std::string &error,
                         Duration patience) {
  patience_ = patience;
  if (const int rc = listen_at(address, error))
    return rc;
  return start_thread(
      thread_, [this, metrics = std::move(metrics)] { serve(metrics); }, error);
}

// False: the time is over, or the server ends.
bool MetricsServer::wait_for(int fd, short events, Time deadline) const {
  const Duration left = deadline - SystemClock::instance().now();
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  pollfd ready[] = {{fd, events, 0}, {end_, POLLIN, 0}};
  return ms > 0 && poll(ready, 2, static_cast<int>(ms)) > 0 && ready[1].revents == 0;
}

void MetricsServer::answer(int client, const Metrics &metrics) const {
  const Time deadline = SystemClock::instance().now() + patience_;
  std::string head;
  while (head.find(end_of_head) == std::string::npos && head.size() < max_request) {
    char block[1024];
    if (!wait_for(client, POLLIN, deadline))
      return;
    const ssize_t n = recv(client, block, std::min(sizeof(block), max_request - head.size()), 0);
    if (n <= 0)
      return;
    head.append(block, static_cast<std::size_t>(n));
  }
  const std::string text = head.find(end_of_head) == std::string::npos
                               ? refusal("431 Request Header Fields Too Large")
                               : http_answer(head, metrics);
  std::string_view rest = text;
  while (!rest.empty() && wait_for(client, POLLOUT, deadline)) {
    const ssize_t n = send(client, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (n < 0)
      return;
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  // What is unread would make the kernel reset the connection, and the answer with it.
  shutdown(client, SHUT_WR);
  char ignored[1024];
  while (wait_for(client, POLLIN, deadline) && recv(client, ignored, sizeof(ignored), 0) > 0) {
  }
}

void MetricsServer::serve(const Metrics &metrics) const {
  for (;;) {
    pollfd ready[] = {{listener_, POLLIN, 0}, {end_, POLLIN, 0}};
    if (poll(ready, 2, -1) < 0 && errno != EINTR)
      return;
    if (ready[1].revents != 0)
      return;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client >= 0) {
      answer(client, metrics);
      close(client);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      pollfd end{end_, POLLIN, 0};
      poll(&end, 1, 100); // the client still waits: not at once again
    }
  }
}

} // namespace dpdkx::daemon

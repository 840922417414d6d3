// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/metrics_server.h"
#include "unit/property.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/daemon/text.h"

using namespace dpdkx;
using namespace dpdkx::daemon;

namespace {

std::optional<std::string> body() { return "dpdkxd_turns_total 1\n"; }

int connect_to(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  assert_int_equal(connect(fd, reinterpret_cast<sockaddr *>(&at), sizeof(at)), 0);
  return fd;
}

// What comes until the server closes.
std::string rest_of(int fd) {
  std::string text;
  char block[512];
  for (ssize_t n; (n = recv(fd, block, sizeof(block), 0)) > 0;)
    text.append(block, static_cast<std::size_t>(n));
  close(fd);
  return text;
}

std::string exchange(std::uint16_t port, std::string_view request) {
  const int fd = connect_to(port);
  assert_int_equal(send(fd, request.data(), request.size(), MSG_NOSIGNAL), request.size());
  return rest_of(fd);
}

void start(MetricsServer &server, Duration patience = std::chrono::seconds(20)) {
  std::string error;
  if (server.start(Address::v4(INADDR_LOOPBACK, 0), body, error, patience))
    fail_msg("%s", error.c_str());
}

} // namespace

static void metrics_server__answers(void **) {
  expect_equal(http_answer("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", body),
               "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; "
               "charset=utf-8\r\nContent-Length: 21\r\nConnection: close\r\n\r\n"
               "dpdkxd_turns_total 1\n");
  const std::string head = http_answer("HEAD /metrics?x=1 HTTP/1.0\r\n\r\n", body);
  assert_true(head.starts_with("HTTP/1.1 200 OK") && head.ends_with("\r\n\r\n"));
  expect_parts(http_answer("GET / HTTP/1.1\r\n\r\n", body),
               {"404 Not Found", "allowed: GET /metrics"});
  expect_parts(http_answer("POST /metrics HTTP/1.1\r\n\r\n", body),
               {"405 Method", "Allow: GET, HEAD\r\n"});
  for (const char *bad : {"", "\r\n\r\n", "GET\r\n\r\n", "GET /metrics\r\n\r\n",
                          "GET metrics HTTP/1.1\r\n\r\n", "GET /metrics HTTP/2\r\n\r\n"})
    expect_parts(http_answer(bad, body), {"400 Bad Request"});
}

static void metrics_server__without_metrics_it_says_so(void **) {
  const std::string answer =
      http_answer("GET /metrics HTTP/1.1\r\n\r\n", [] { return std::nullopt; });
  expect_parts(answer, {"HTTP/1.1 503 Service Unavailable\r\n"});
}

static void metrics_server__any_request_has_an_answer(void **) {
  const bool ok = unit::holds("any request has an answer", [] {
    const auto text = *rc::gen::arbitrary<std::string>();
    RC_ASSERT(http_answer(text, body).starts_with("HTTP/1.1 "));
  });
  assert_true(ok);
}

static void metrics_server__serves_one_after_the_other(void **) {
  MetricsServer server;
  start(server);
  for (int i = 0; i < 3; ++i)
    expect_parts(exchange(server.port(), "GET /metrics HTTP/1.1\r\n\r\n"),
                 {"200 OK", "dpdkxd_turns_total 1\n"});
  // In pieces
  const int fd = connect_to(server.port());
  for (const char *part : {"GET /met", "rics HTTP/1.1\r", "\n\r", "\n"})
    send(fd, part, std::string_view(part).size(), MSG_NOSIGNAL);
  expect_parts(rest_of(fd), {"200 OK"});
}

static void metrics_server__long_requests_are_refused(void **) {
  MetricsServer server;
  start(server);
  const std::string request = "GET /metrics HTTP/1.1\r\nX: ";
  expect_parts(exchange(server.port(),
                        request + std::string(MetricsServer::max_request - request.size(), 'x')),
               {"431 Request Header Fields Too Large"});
  expect_parts(exchange(server.port(), "GET /metrics HTTP/1.1\r\n\r\n"), {"200 OK"});
}

static void metrics_server__who_says_nothing_holds_up_others_for_a_while_only(void **) {
  MetricsServer server;
  start(server, std::chrono::milliseconds(20));
  const int silent = connect_to(server.port());
  const int half = connect_to(server.port());
  send(half, "GET /", 5, MSG_NOSIGNAL);
  expect_equal(rest_of(silent), "");
  expect_equal(rest_of(half), "");
}

static void metrics_server__ends_while_a_client_is_silent(void **) {
  int silent;
  {
    MetricsServer server;
    start(server, std::chrono::minutes(10));
    silent = connect_to(server.port());
  }
  close(silent);
}

static void metrics_server__a_taken_port_is_told(void **) {
  MetricsServer one, two;
  start(one);
  std::string error;
  const Address at = Address::v4(INADDR_LOOPBACK, one.port());
  assert_int_equal(two.start(at, body, error), -EADDRINUSE);
  expect_parts(error, {"metrics: '127.0.0.1:", "; allowed: "});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(metrics_server__answers),
    cmocka_unit_test(metrics_server__without_metrics_it_says_so),
    cmocka_unit_test(metrics_server__any_request_has_an_answer),
    cmocka_unit_test(metrics_server__serves_one_after_the_other),
    cmocka_unit_test(metrics_server__long_requests_are_refused),
    cmocka_unit_test(metrics_server__who_says_nothing_holds_up_others_for_a_while_only),
    cmocka_unit_test(metrics_server__ends_while_a_client_is_silent),
    cmocka_unit_test(metrics_server__a_taken_port_is_told),
};
static const unit::Group group{"metrics_server", cases};

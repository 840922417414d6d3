// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fork() in an application is harmless, to it and to its peers.
#include "dpdkx/link/host/unix_socket.h"
#include "unit/link_host/harness.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace link_host;

namespace {

int open_sockets() {
  int count = 0;
  for (int fd = 0; fd < 1000; ++fd) {
    struct stat status;
    count += fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
  }
  return count;
}

} // namespace

static void child__inherits_neither_sockets_nor_rings(void **) {
  Pair pair;
  assert_true(ring_mappings() != 0);
  assert_true(open_sockets() >= 4);
  assert_true(succeeded(in_child([] { return ring_mappings() == 0 && open_sockets() == 0; })));
}

static void child__can_call_an_inherited_port_in_vain(void **) {
  Pair pair;
  assert_true(send(*pair.opener, pair.out, "for the parent"));
  assert_true(succeeded(in_child([&] {
    Port &port = *pair.acceptor;
    RxDatagram datagram{};
    PathEvent event;
    PathId path;
    const iovec piece{&event, 1};
    const bool in_vain = port.poll(&datagram, 1) == 0 && port.reserve(pair.in, 8).data == nullptr &&
                         port.open_path(pair.opener->address(), path) == -ECHILD &&
                         port.poll_events(&event, 1, now()) == 0 && port.arm() &&
                         port.wait_fd() == -1 &&
                         port.pull(pair.in, {&piece, 1}, {&piece, 1}) == -ESRCH;
    port.flush();
    port.release(&datagram, 0);
    port.disarm();
    port.close_path(pair.in);
    return in_vain;
  })));
  assert_string_equal(receive(*pair.acceptor).c_str(), "for the parent");
}

static void child__that_destroys_a_port_harms_nobody(void **) {
  Pair pair;
  assert_true(succeeded(in_child([&] {
    // Numbers and addresses that were the port's are taken for something else.
    int taken[64];
    for (int &fd : taken)
      fd = dup(0);
    pair.opener.reset();
    pair.acceptor.reset();
    for (const int fd : taken)
      if (fd >= 0 && close(fd) != 0)
        return false;
    return true;
  })));
  assert_true(no_event(*pair.opener));
  assert_true(no_event(*pair.acceptor));
  assert_true(send(*pair.opener, pair.out, "alive"));
  assert_string_equal(receive(*pair.acceptor).c_str(), "alive");
}

static void child__keeps_no_peer_alive_and_no_name_busy(void **) {
  Pair pair;
  Signal started, over;
  const pid_t child = in_child([&] {
    started.give();
    return over.await() == 1;
  });
  assert_int_equal(started.await(), 1);
  const std::uint16_t number = pair.acceptor->address().port;
  pair.acceptor.reset();
  await_event(*pair.opener, PathEventKind::peer_gone);
  assert_non_null(open_port({}, number).get());
  over.give();
  assert_true(succeeded(child));
}

static void child__can_open_ports_of_its_own(void **) {
  Pair pair;
  assert_true(succeeded(in_child([&] {
    const auto own = open_port();
    PathId path;
    return own->open_path(pair.acceptor->address(), path) == 0 && send(*own, path, "hello") &&
           // and so can its own child
           succeeded(in_child([&] {
             const auto next = open_port();
             return own->reserve(path, 8).data == nullptr &&
                    next->open_path(pair.acceptor->address(), path) == 0 &&
                    send(*next, path, "hello");
           }));
  })));
  await_event(*pair.acceptor, PathEventKind::accepted);
  await_event(*pair.acceptor, PathEventKind::accepted);
  assert_string_equal(receive(*pair.acceptor).c_str(), "hello");
  assert_string_equal(receive(*pair.acceptor).c_str(), "hello");
}

static void descriptor__that_is_released_is_the_callers(void **) {
  host::Fd fd = host::make_socket();
  const int number = fd.get();
  assert_true(succeeded(in_child([&] { // it was closed there already
    return fd.release() == -1 && fcntl(number, F_GETFD) == -1;
  })));
  assert_int_equal(fd.release(), number);
  assert_false(static_cast<bool>(fd));
  assert_int_equal(fd.release(), -1);
  assert_true(succeeded(in_child([&] { return fcntl(number, F_GETFD) != -1; })));
  assert_int_equal(close(number), 0);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(child__inherits_neither_sockets_nor_rings),
    cmocka_unit_test(child__can_call_an_inherited_port_in_vain),
    cmocka_unit_test(child__that_destroys_a_port_harms_nobody),
    cmocka_unit_test(child__keeps_no_peer_alive_and_no_name_busy),
    cmocka_unit_test(child__can_open_ports_of_its_own),
    cmocka_unit_test(descriptor__that_is_released_is_the_callers),
};
static const unit::Group group{"link_host.fork", cases};

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the system doesn't allow, and how it is told.
#include "unit/link_host/harness.h"

#include "dpdkx/link/host/handshake.h"
#include "dpdkx/link/host/names.h"
#include "dpdkx/link/host/segment.h"

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace link_host;
namespace host = dpdkx::link::host;

namespace {

// Leaves room for so many more descriptors.
class DescriptorLimit {
public:
  explicit DescriptorLimit(rlim_t more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = dup(0); // the lowest free
    close(next);
    rlimit now = before_;
    now.rlim_cur = static_cast<rlim_t>(next) + more;
    setrlimit(RLIMIT_NOFILE, &now);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

private:
  rlimit before_;
};

} // namespace

static void user__another_is_refused_by_the_opener(void **) {
  if (geteuid() != 0)
    skip();
  const auto port = open_port();
  assert_true(succeeded(in_child([&] {
    const LogCapture log;
    if (!become_nobody())
      return false;
    const auto own = open_port();
    PathId path;
    return own->open_path(port->address(), path) == -EPERM && log.lines().size() == 1 &&
           log.contains("user 0") && log.contains("user 65534");
  })));
  assert_true(no_event(*port));
}

// The stranger skips its own check.
static void user__another_is_refused_by_the_acceptor(void **) {
  if (geteuid() != 0)
    skip();
  const LogCapture log;
  const auto port = open_port();
  Signal looked;
  const pid_t child = in_child([&] {
    host::Fd socket, memfd;
    host::Segment segment;
    if (!become_nobody() || host::connect_to(port->address(), socket) != 0 ||
        host::Segment::create(65536, segment, memfd) != 0)
      return false;
    looked.give();
    const host::Hello hello = host::make_hello(loopback(1), 65536, 1000, 0);
    host::send_hello(socket, hello, memfd);
    pollfd readable{socket.get(), POLLIN, 0};
    host::Welcome welcome{};
    return poll(&readable, 1, patience_ms) == 1 &&
           host::receive_note(socket, welcome) == host::Note::welcome && welcome.status == -EPERM;
  });
  assert_int_equal(looked.await(), 1);
  assert_true(no_event(*port));
  assert_true(succeeded(child));
  assert_true(no_event(*port));
  assert_true(log.contains("user 65534"));
}

static void descriptors__none_for_a_port(void **) {
  for (const rlim_t more : {0, 1, 2}) {
    const DescriptorLimit limit(more);
    std::unique_ptr<Port> port;
    std::string error;
    assert_int_equal(open_host_port(loopback(), {}, port, error), -EMFILE);
    assert_non_null(strstr(error.c_str(), "RLIMIT_NOFILE"));
  }
}

// The kernel's way to tell is a signal that ends the process.
static void memory__larger_than_a_file_may_be(void **) {
  assert_true(succeeded(in_child([] {
    const LogCapture log;
    const rlimit small{1000, 1000};
    std::unique_ptr<Port> own, other;
    std::string error;
    PathId path;
    return open_host_port(loopback(), {}, own, error) == 0 &&
           open_host_port(loopback(), {}, other, error) == 0 &&
           setrlimit(RLIMIT_FSIZE, &small) == 0 &&
           own->open_path(other->address(), path) == -EFBIG &&
           own->open_path(own->address(), path) == -EFBIG && log.count("RLIMIT_FSIZE") == 2;
  })));
}

// A sandbox may have no files at all.
static void files__none_are_needed(void **) {
  if (geteuid() != 0)
    skip();
  char empty[] = "/tmp/dpdkx-no-files-XXXXXX";
  assert_non_null(mkdtemp(empty));
  const pid_t child = in_child([&] {
    std::unique_ptr<Port> port;
    std::string error;
    return chroot(empty) == 0 && chdir("/") == 0 &&
           open_host_port(loopback(), {}, port, error) == 0;
  });
  const bool well = succeeded(child);
  assert_int_equal(rmdir(empty), 0);
  assert_true(well);
}

// They lie unread in sockets of whoever runs as the same user.
static void descriptors__too_many_under_way(void **) {
  if (geteuid() != 0)
    skip();
  assert_true(succeeded(in_child([] {
    const LogCapture log;
    int ends[2];
    const rlimit small{64, 64};
    if (!become_nobody() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) != 0)
      return false;
    const auto own = open_port(), other = open_port();
    if (setrlimit(RLIMIT_NOFILE, &small) != 0)
      return false;
    host::Fd memfd;
    std::optional<host::ForkHold> hold(std::in_place);
    host::Fd socket(ends[0], *hold), unread(ends[1], *hold);
    hold.reset();
    host::Segment segment;
    if (host::Segment::create(65536, segment, memfd) != 0)
      return false;
    int sent = 0;
    while (sent == 0)
      sent = host::send_hello(socket, host::make_hello(loopback(1), 65536, 1000, 0), memfd);
    PathId path;
    if (sent != -ETOOMANYREFS || own->open_path(other->address(), path) != 0 || !no_event(*own) ||
        log.count("RLIMIT_NOFILE") != 1)
      return false;
    unread.reset();
    socket.reset();
    PathEvent event;
    for (const Time end = now() + std::chrono::milliseconds(patience_ms); now() < end;)
      if (own->poll_events(&event, 1, now()) == 1)
        return event.kind == PathEventKind::up && log.lines().size() == 1;
    return false;
  })));
}

static void descriptors__none_for_a_path(void **) {
  const LogCapture log;
  const auto port = open_port();
  Signal ready, over;
  const pid_t child = in_child([&] { // another process, so that a pidfd is needed as well
    const auto peer = open_port();
    ready.give(peer->address().port);
    return over.await() == 1;
  });
  const Address peer = loopback(static_cast<std::uint16_t>(ready.await()));
  const std::size_t before = open_descriptors();
  PathId path;
  {
    const DescriptorLimit limit(0);
    assert_int_equal(port->open_path(peer, path), -EMFILE);
  }
  {
    const DescriptorLimit limit(1);
    assert_int_equal(port->open_path(peer, path), -EMFILE);
  }
  assert_int_equal(log.count("RLIMIT_NOFILE"), 2);
  assert_int_equal(open_descriptors(), before);
  assert_true(no_event(*port));
  assert_int_equal(port->open_path(peer, path), 0);
  over.give();
  assert_true(succeeded(child));
}

// The acceptor has none; the opener learns why, and the acceptor can sleep.
static void descriptors__none_for_a_guest(void **) {
  for (const rlim_t more : {0, 1}) {
    const LogCapture log;
    const auto acceptor = open_port(), opener = open_port();
    PathId path;
    assert_int_equal(opener->open_path(acceptor->address(), path), 0);
    await_event(*opener, PathEventKind::up);
    {
      const DescriptorLimit limit(more);
      assert_true(no_event(*acceptor));
      assert_true(acceptor->arm());
      pollfd fd{acceptor->wait_fd(), POLLIN, 0};
      assert_int_equal(poll(&fd, 1, 0), 0);
      acceptor->disarm();
    }
    const PathEvent gone = await_event(*opener, PathEventKind::peer_gone);
    assert_int_equal(gone.error, -EMFILE);
    assert_int_equal(log.count("RLIMIT_NOFILE"), 1);
    opener->close_path(path);
    assert_int_equal(opener->open_path(acceptor->address(), path), 0);
    await_event(*acceptor, PathEventKind::accepted);
  }
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(user__another_is_refused_by_the_opener),
    cmocka_unit_test(user__another_is_refused_by_the_acceptor),
    cmocka_unit_test(descriptors__none_for_a_port),
    cmocka_unit_test(memory__larger_than_a_file_may_be),
    cmocka_unit_test(files__none_are_needed),
    cmocka_unit_test(descriptors__none_for_a_path),
    cmocka_unit_test(descriptors__too_many_under_way),
    cmocka_unit_test(descriptors__none_for_a_guest),
};
static const unit::Group group{"link_host.limits", cases};

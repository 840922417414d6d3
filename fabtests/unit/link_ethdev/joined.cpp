// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Datagrams that go to the kernel, and come from it, as one frame.
#include "unit/link_ethdev/hosts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "unit/unit.h"

using namespace hosts;

namespace {

constexpr std::uint16_t number = 5000;

struct Burst {
  std::vector<std::size_t> sizes;
  unsigned frames; // joined ones that it makes
};

// Commits all before it flushes.
void send_at_once(link::Port &port, link::PathId path, const std::vector<std::size_t> &sizes) {
  for (unsigned i = 0; i < sizes.size(); ++i) {
    const auto bytes = pattern(sizes[i], i);
    const link::TxRoom room = port.reserve(path, static_cast<std::uint32_t>(bytes.size()));
    CHECK(room.data != nullptr);
    std::ranges::copy(bytes, room.data);
    port.commit(path, room, static_cast<std::uint32_t>(bytes.size()));
  }
  port.flush();
}

// From host 0 to host 1, one by one.
void exchange(Host &host, const std::shared_ptr<link::Device> &device,
              const std::vector<Burst> &bursts) {
  End end(device, number);
  const link::PathId path = end.connect(at(host.peer_ip(), number));
  end.port().set_joined(path, true);
  end.meet(host);
  std::uint64_t frames = 0;
  for (const Burst &burst : bursts) {
    const std::string counter = host.rank() == 0 ? "tx_joined_frames" : "rx_joined_frames";
    frames += burst.frames;
    if (host.rank() == 0)
      send_at_once(end.port(), path, burst.sizes);
    else
      for (unsigned i = 0; i < burst.sizes.size(); ++i)
        CHECK(end.receive().bytes == pattern(burst.sizes[i], i));
    CHECK(statistic(*device, counter) == frames);
    end.meet(host);
  }
}

std::vector<std::size_t> many(std::size_t n, std::size_t size, std::vector<std::size_t> more = {}) {
  more.insert(more.begin(), n, size);
  return more;
}

// The packet sockets of this process.
std::vector<int> packet_sockets() {
  std::vector<int> found;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    int domain = 0;
    socklen_t size = sizeof(domain);
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_PACKET)
      found.push_back(fd);
  }
  std::ranges::sort(found);
  return found;
}

// From now on sendmsg() to `fd` fails so.
void refuse_sends(int fd, int error) {
  const std::array<sock_filter, 6> code{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(fd), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{code.size(), const_cast<sock_filter *>(code.data())};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

} // namespace

static void joined__are_those_of_one_size_and_a_last_one(void **) {
  run_each({}, [](Host &host) {
    auto device = open(request(host.interface()));
    const std::size_t most = host.max_datagram(1500);
    exchange(host, device,
             {{many(2, 1400), 1},
              {many(11, most, {300}), 1},
              {many(3, 1400, {1399, 1400, 1400, 1400}), 2},
              {many(1, 1000, {1200, 1200, 1, 1200}), 1},
              {many(16, most), 1},
              {many(40, most), 3},     // as they are worth it: by 16
              {many(5, 100, {99}), 0}, // too short
              {{700}, 0},
              {many(15, most, {0}), 1}}); // the empty one goes alone
  });
}

static void joined__jumbo_frames_too(void **) {
  run_each({.mtu = 9000}, [](Host &host) {
    auto device = open(request(host.interface()));
    const std::size_t most = host.max_datagram(9000);
    // Not more than 64 KiB.
    exchange(host, device, {{many(3, most, {17}), 1}, {many(8, most), 1}, {many(20, 3000), 2}});
  });
}

static void joined__with_a_tag(void **) {
  run_each({.addresses = false}, [](Host &host) {
    auto device = open(request(host.interface(), host.setting() + ",,100"));
    exchange(host, device, {{many(9, 1400, {1000}), 1}, {{60}, 0}});
  });
}

// More than a poll is asked for.
static void joined__come_in_by_and_by(void **) {
  run_each({}, [](Host &host) {
    constexpr unsigned count = 16, at_a_time = 3;
    auto device = open(request(host.interface()));
    End end(device, number);
    const link::PathId path = end.connect(at(host.peer_ip(), number));
    end.port().set_joined(path, true);
    end.meet(host);
    if (host.rank() == 0)
      send_at_once(end.port(), path, many(count, 1400));
    for (unsigned n = 0; host.rank() == 1 && n < count;) {
      link::RxDatagram datagrams[at_a_time];
      const unsigned got = end.port().poll(datagrams, at_a_time);
      for (unsigned i = 0; i < got; ++i) {
        const link::RxDatagram &d = datagrams[i];
        CHECK(std::vector(d.data, d.data + d.len) == pattern(1400, n++));
        CHECK(d.path == path && end.port().source(d) == at(host.peer_ip(), number));
        CHECK(d.intact);
      }
      end.port().release(datagrams, got);
    }
    end.meet(host);
  });
}

static void joined__are_of_one_pair_of_ports(void **) {
  run_each({}, [](Host &host) {
    auto device = open(request(host.interface()));
    End one(device, 5001), two(device, 5002);
    const link::PathId to_one = one.connect(at(host.peer_ip(), 5001));
    const link::PathId to_two = one.connect(at(host.peer_ip(), 5002));
    for (const link::PathId path : {to_one, to_two})
      one.port().set_joined(path, true);
    one.meet(host);
    if (host.rank() == 0) {
      for (const link::PathId path : {to_one, to_one, to_two, to_two, to_two, to_one}) {
        const link::TxRoom room = one.port().reserve(path, 1000);
        std::ranges::copy(pattern(1000, path == to_one), room.data);
        one.port().commit(path, room, 1000);
      }
      one.port().flush();
      CHECK(statistic(*device, "tx_joined_frames") == 2);
    } else {
      for (unsigned i = 0; i < 3; ++i) {
        CHECK(one.receive().bytes == pattern(1000, 1));
        CHECK(two.receive().bytes == pattern(1000, 0));
      }
    }
    one.meet(host);
  });
}

// DPDK's driver would take a joined frame for one that is too long.
static void joined__none_for_a_peer_that_does_not_take_them(void **) {
  run_each({}, [](Host &host) {
    const std::string plain = "net_af_packet0,iface=" + std::string(host.interface());
    auto device =
        open(host.rank() == 0 ? request(host.interface()) : request(plain, host.setting()));
    End end(device, number);
    CHECK(end.port().traits().takes_joined == (host.rank() == 0));
    const link::PathId path = end.connect(at(host.peer_ip(), number));
    end.port().set_joined(path, host.rank() == 1); // the other can't, whatever is said
    end.meet(host);
    if (host.rank() == 0)
      send_at_once(end.port(), path, many(12, 1400));
    else
      for (unsigned i = 0; i < 12; ++i)
        CHECK(end.receive().bytes == pattern(1400, i));
    end.meet(host);
    if (host.rank() == 1)
      send_at_once(end.port(), path, many(12, 1300));
    else
      for (unsigned i = 0; i < 12; ++i)
        CHECK(end.receive().bytes == pattern(1300, i));
    if (host.rank() == 0)
      CHECK(statistic(*device, "tx_joined_frames") == 0);
    end.meet(host);
  });
}

// Before Linux 6.2 it takes none.
static void joined__go_one_by_one_where_the_kernel_refuses_them(void **) {
  run_both({}, [](Host &host) {
    auto device = open(request(host.interface()));
    if (host.rank() == 0) {
      const std::vector<int> sockets = packet_sockets();
      CHECK(sockets.size() == 2);
      refuse_sends(sockets[1], EINVAL);
    }
    End end(device, number);
    const link::PathId path = end.connect(at(host.peer_ip(), number));
    end.port().set_joined(path, true);
    end.meet(host);
    for (unsigned round = 0; round < 3; ++round) {
      if (host.rank() == 0)
        send_at_once(end.port(), path, many(20, 1400, {5}));
      else
        for (unsigned i = 0; i < 21; ++i)
          CHECK(end.receive().bytes == pattern(i < 20 ? 1400 : 5, i));
      end.meet(host);
    }
    CHECK(statistic(*device, host.rank() == 0 ? "tx_joined_frames" : "rx_joined_frames") == 0);
  });
}

// What it has no room for now stays, and goes later.
static void joined__wait_where_the_kernel_is_full(void **) {
  run_both({}, [](Host &host) {
    auto device = open(request(host.interface()));
    End end(device, number);
    const link::PathId path = end.connect(at(host.peer_ip(), number));
    end.port().set_joined(path, true);
    end.meet(host);
    if (host.rank() == 0) {
      refuse_sends(packet_sockets().at(1), EAGAIN); // for ever
      send_at_once(end.port(), path, many(16, 1400));
      CHECK(end.port().counters().tx_datagrams == 16);
      for (unsigned i = 16; i < 64; ++i) {
        const link::TxRoom room = end.port().reserve(path, 1400);
        CHECK(room.data != nullptr);
        end.port().commit(path, room, 1400);
      }
      CHECK(end.port().reserve(path, 1400).data == nullptr);
      CHECK(end.port().counters().tx_refused == 1);
      CHECK(statistic(*device, "tx_errors") == 0);
    }
    end.meet(host);
  });
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(joined__are_those_of_one_size_and_a_last_one),
    cmocka_unit_test(joined__jumbo_frames_too),
    cmocka_unit_test(joined__with_a_tag),
    cmocka_unit_test(joined__come_in_by_and_by),
    cmocka_unit_test(joined__are_of_one_pair_of_ports),
    cmocka_unit_test(joined__none_for_a_peer_that_does_not_take_them),
    cmocka_unit_test(joined__go_one_by_one_where_the_kernel_refuses_them),
    cmocka_unit_test(joined__wait_where_the_kernel_is_full),
};
static const unit::Group group{"ethdev_joined", cases};

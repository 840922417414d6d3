// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Interfaces with several receive queues by af_xdp, which takes what arrives by
// queue: a tap's, whose queues are descriptors, and a veth's, which the driver
// can't have.
#include "unit/link_ethdev/hosts.h"

#include "dpdkx/net/encapsulation.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "unit/unit.h"

using namespace hosts;

namespace {

constexpr unsigned queues = 3;
constexpr std::uint16_t port = 5000;

// The other end of an interface with a descriptor for each of its queues.
class Tap {
public:
  Tap() {
    for (int &fd : fds_) {
      ifreq request{};
      std::strcpy(request.ifr_name, "dpt0");
      request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_MULTI_QUEUE;
      fd = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
      if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0)
        throw Skip("no tap with several queues");
    }
    CHECK(shell("ip link set dpt0 up && ip address add 10.78.0.1/24 dev dpt0"));
  }
  ~Tap() {
    for (const int fd : fds_)
      close(fd);
  }
  Tap(const Tap &) = delete;

  // A datagram arrives by a queue.
  void send(unsigned queue, const net::Mac &to, const std::vector<std::byte> &payload) const {
    const net::LocalSide from({{2, 0, 0, 0, 0, 9}}, net::Ip(net::Ipv4{0x0a4e0009}));
    const net::UdpEncapsulation headers(from, port, 0);
    std::vector<std::byte> frame(headers.header_size() + payload.size());
    std::ranges::copy(payload, frame.begin() + headers.header_size());
    headers.write(frame.data(), to, net::Ip(net::Ipv4{0x0a4e0001}), port,
                  static_cast<std::uint16_t>(payload.size()));
    CHECK(write(fds_[queue], frame.data(), frame.size()) == static_cast<ssize_t>(frame.size()));
  }

private:
  int fds_[queues] = {-1, -1, -1};
};

} // namespace

static void xdp__takes_what_arrives_by_each_queue(void **) {
  run({}, {[](Host &) {
        const Tap tap;
        std::shared_ptr<link::Device> device;
        std::string error;
        if (dpdkx_ethdev_module()->open_device(request("xdp:dpt0"), {}, device, error) != 0)
          throw Skip(error);
        CHECK(device->queues().size() == queues);
        End end(device, port);
        for (unsigned round = 0; round < 50; ++round)
          for (unsigned queue = 0; queue < queues; ++queue) {
            tap.send(queue, device->info().mac, pattern(100 + queue, round));
            CHECK(end.receive().bytes == pattern(100 + queue, round));
          }
        for (const link::DeviceQueue &queue : device->queues())
          CHECK(queue.packets >= 50);
      }});
}

static void xdp__of_queues_that_it_cannot_take_is_refused(void **) {
  run({}, {[](Host &) {
        CHECK(shell("ip link add dpq0 numrxqueues 4 numtxqueues 4 type veth peer name dpq1 && "
                    "ip link set dpq0 up && ip link set dpq1 up && "
                    "ip address add 10.78.0.1/24 dev dpq0"));
        std::string error;
        CHECK(fail_to_open(request("xdp:dpq0"), {}, error) == -EOPNOTSUPP);
        CHECK(error.find("4 receive queues, of which af_xdp would take 1; allowed: one (ethtool "
                         "-L dpq0 rx 1)") != std::string::npos);
        // Who names queues knows what comes by them.
        std::shared_ptr<link::Device> device;
        if (dpdkx_ethdev_module()->open_device(request("xdp:dpq0,start_queue=1"), {}, device,
                                               error) != 0)
          CHECK(error.find("receive queues") == std::string::npos);
      }});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(xdp__takes_what_arrives_by_each_queue),
    cmocka_unit_test(xdp__of_queues_that_it_cannot_take_is_refused),
};
static const unit::Group group{"xdp_queues", cases};

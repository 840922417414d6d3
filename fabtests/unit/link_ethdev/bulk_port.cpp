// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Ports with a queue of their own, on devices whose rules are played by a fake. The kernel, whose
// sockets the queues are, knows nothing of them: packets come in by whatever queue, as they do
// where a NIC has forgotten its rules.
#include "unit/link_ethdev/fake_rules.h"
#include "unit/link_ethdev/hosts.h"

#include "dpdkx/link/ethdev/nic.h"

#include <dirent.h>
#include <netinet/in.h>
#include <set>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/unit.h"

using namespace hosts;
using namespace std::chrono_literals;

namespace {

// With `queues` for rules, which this NIC has.
std::shared_ptr<link::Device> open_with(fake::Nic &nic, const std::string &device,
                                        std::uint32_t queues) {
  link::make_test_rules = [&nic] { return std::make_unique<fake::Rules>(nic); };
  return open(request(device), {.rule_queues = queues});
}

std::size_t open_files() {
  std::size_t n = 0;
  DIR *const folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr)
    ++n;
  closedir(folder);
  return n;
}

// Whether nobody has the port, for the kernel.
bool is_free(std::uint16_t port, int *keep = nullptr) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  const bool free = bind(fd, reinterpret_cast<sockaddr *>(&name), sizeof(name)) == 0;
  if (keep != nullptr)
    *keep = fd;
  else
    close(fd);
  return free;
}

} // namespace

static void bulk__what_comes_there_is_the_endpoints(void **) {
  run_each({}, [](Host &host) {
    fake::Nic nic;
    auto device =
        host.rank() == 0 ? open(request(host.interface())) : open_with(nic, host.interface(), 2);
    End end(device, 5000), other(device, 5001);
    if (host.rank() == 1) {
      CHECK(device->info().steering == "flow rules, 1 + 2 queues");
      CHECK(end.port().bulk_port() == 65535 && other.port().bulk_port() == 65534);
      CHECK(nic.rules == (std::map<std::uint16_t, std::uint16_t>{{65535, 1}, {65534, 2}}));
      CHECK(statistic(*device, "steering_rules") == 2);
    } else {
      CHECK(end.port().bulk_port() == 0);
      CHECK(device->info().steering == "one queue");
    }
    const auto path = end.connect(at(host.peer_ip(), 5000));
    end.port().set_bulk_port(path, host.rank() == 0 ? 65535 : 0);
    end.meet(host);
    std::set<std::vector<std::byte>> got, wanted; // in whatever order, of the peer's next round too
    for (unsigned i = 0; i < 100; ++i) {
      end.send(path, pattern(200, i), true);
      end.send(path, pattern(100, i), false);
      wanted.insert({pattern(200, i), pattern(100, i)});
      for (int n = 0; n < 2; ++n) {
        const auto one = end.receive();
        CHECK(one.path == path && one.source == at(host.peer_ip(), 5000));
        got.insert(one.bytes);
      }
    }
    CHECK(got == wanted);
    // Handed on by whoever polls.
    host.meet();
    end.send(path, pattern(60, 1), true);
    host.meet();
    while (other.quiet(5ms) && end.port().counters().rx_datagrams < 200)
      ;
    CHECK(end.receive().bytes == pattern(60, 1));
    host.meet();
  });
}

// Who gets none of its own is reached as ever.
static void bulk__refused_from_the_start(void **) {
  for (const fake::Nic &as : {fake::Nic{.supported = false}, fake::Nic{.room = 0}})
    run_both({}, [as](Host &host) {
      fake::Nic nic = as;
      auto device = open_with(nic, host.interface(), 2);
      CHECK(device->info().steering ==
            (nic.supported ? "flow rules, 1 + 2 queues" : "fanout over 3 queues"));
      {
        End end(device, 5000);
        CHECK(end.port().bulk_port() == 0 && is_free(65535));
        CHECK(statistic(*device, "steering_rules_refused") == nic.supported);
      }
      echo_sizes(host, {0, 8, 1000, 1472}, device);
      for (const std::uint16_t port : {6001, 6002, 6003, 6004, 6005}) { // by other queues
        End end(device, port);
        const auto path = end.connect(at(host.peer_ip(), port));
        end.meet(host);
        end.send(path, pattern(50, port), true);
        CHECK(end.receive().bytes == pattern(50, port));
        end.meet(host);
      }
    });
}

static void bulk__queues_and_rules_run_out(void **) {
  run({}, {[](Host &host) {
        fake::Nic nic{.room = 3};
        auto device = open_with(nic, host.interface(), 4);
        {
          End a(device, 5000), b(device, 5001), c(device, 5002), d(device, 5003);
          CHECK(c.port().bulk_port() != 0 && d.port().bulk_port() == 0); // no rule
          nic.room = 100;
          End e(device, 5004), f(device, 5005);
          CHECK(e.port().bulk_port() != 0 && f.port().bulk_port() == 0); // no queue
          CHECK(statistic(*device, "steering_queues_exhausted") == 1);
          CHECK(statistic(*device, "steering_rules") == 4 && nic.rules.size() == 4);
        }
        CHECK(nic.rules.empty());
        End g(device, 5006);
        CHECK(g.port().bulk_port() == 65535);
      }});
}

// A number that somebody has is passed over.
static void bulk__numbers_that_are_taken(void **) {
  run({}, {[](Host &host) {
        fake::Nic nic;
        int kernels = -1;
        CHECK(is_free(65535, &kernels));
        auto device = open_with(nic, host.interface(), 3);
        End a(device, 65534);
        CHECK(a.port().bulk_port() == 65533 && !is_free(65533));
        End b(device, 5000, {.first = 5000, .last = 5001});
        CHECK(b.port().bulk_port() == 5001);
        End c(device, 5002, {.first = 5000, .last = 5002}); // all are taken
        CHECK(c.port().bulk_port() == 0 && nic.rules.size() == 2);
        std::unique_ptr<link::Port> none;
        std::string error;
        CHECK(device->open_port(Address::v4(0, 65533), {}, none, error) == -EADDRINUSE);
        close(kernels);
      }});
}

static void bulk__a_rule_that_stays_holds_up_nobody(void **) {
  run_both({}, [](Host &host) {
    fake::Nic nic;
    auto device = open_with(nic, host.interface(), 1);
    {
      End end(device, 5000);
      CHECK(end.port().bulk_port() == 65535);
      nic.failing_removes = 2;
    }
    CHECK(statistic(*device, "steering_rules_stuck") == 1);
    CHECK(is_free(65535));
    {
      End end(device, 5000); // tries again, in vain
      CHECK(end.port().bulk_port() == 0);
    }
    echo_sizes(host, {8, 1000}, device);
    End end(device, 5001);
    CHECK(end.port().bulk_port() == 65535);
    CHECK(statistic(*device, "steering_rules_stuck") == 0);
  });
}

static void bulk__many_cycles_leave_nothing(void **) {
  run({}, {[](Host &host) {
        fake::Nic nic;
        auto device = open_with(nic, host.interface(), 2);
        std::size_t before = 0;
        for (unsigned i = 0; i < 300; ++i) {
          nic.refusals = i % 5 == 0;
          End a(device, 5000), b(device, 0), c(device, 5002);
          CHECK(nic.rules.size() == 2);
          if (i % 7 == 0)
            nic.rules.clear(); // forgotten
          if (i == 10)
            before = open_files();
        }
        CHECK(nic.rules.empty() && is_free(65535) && is_free(65534) && is_free(5000));
        End a(device, 5000), b(device, 0), c(device, 5002);
        CHECK(open_files() == before);
        device.reset();
        CHECK(nic.rules.size() == 2);
      }});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(bulk__what_comes_there_is_the_endpoints),
    cmocka_unit_test(bulk__refused_from_the_start),
    cmocka_unit_test(bulk__queues_and_rules_run_out),
    cmocka_unit_test(bulk__numbers_that_are_taken),
    cmocka_unit_test(bulk__a_rule_that_stays_holds_up_nobody),
    cmocka_unit_test(bulk__many_cycles_leave_nothing),
};
static const unit::Group group{"ethdev_bulk_port", cases};

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/status_text.h"

#include "unit/daemon/example.h"
#include "unit/daemon/text.h"

using namespace dpdkx::daemon;

static void status_text__has_all_there_is(void **) {
  expect_equal(
      status_text(example_status()),
      R"(dpdkxd 0.1.0, pid 99, on @dpdkxd, up 1m40s; processor 12.5 %, turns 1000000, sleeps 17; ranks 2 of 1024 (512 of a user), refused 1

0000:01:00.0 (eth0): mlx5_pci, 10.0.0.1/24, 02:00:00:00:00:1f, MTU 9000, 100Gbit/s, NUMA node 1; RSS over 2 queues
  queue                  for  packets
  0                    eager      111
  1      rank 10.0.0.1:49152      222
  rank             pid   uid  since  paths  sent  sent B   got    got B  no room  refused  malformed  acked  ring
  10.0.0.1:49152  1234  1000  1m15s      7  1000   64000  2000  3000000        3        4          5      6  50 %
  10.0.0.1:49153     -  1000  1m15s      7  1000   64000  2000  3000000        3        4          5      6  50 %
  probes of dpdkx-check at UDP port 4797: answered 44, refused 55
  counter
  rx_good_packets  333
  dropped: "odd"\    2
)");
}

static void status_text__without_ranks(void **) {
  Status status = example_status();
  status.devices[0].ranks.clear();
  expect_parts(status_text(status), {"  no ranks\n"});
  status.devices.clear();
  assert_true(status_text(status).find('\n') == status_text(status).size() - 1);
}

static void status_text__where_no_probes_are_answered(void **) {
  Status status = example_status();
  status.devices[0].probes = {};
  assert_true(status_text(status).find("probes") == std::string::npos);
}

static void status_text__changes_are_per_second(void **) {
  const Status before = example_status();
  Status now = before;
  now.up += std::chrono::seconds(2);
  now.processor_time += std::chrono::seconds(1);
  now.turns += 2'000'000;
  RankStatus &rank = now.devices[0].ranks[0];
  rank.attached += std::chrono::seconds(2);
  rank.to_network.packets += 2400;
  rank.to_network.bytes += 24'680'000;
  now.devices[0].queues[0].packets += 20;
  now.devices[0].counters[0].second += 200;
  now.devices[0].probes.answered += 50;
  const std::string text = status_change_text(before, now);
  expect_parts(
      text,
      {"processor 50.0 %, turns/s 1.00M, sleeps/s 0; ranks 2 of 1024 (512 of a user), refused/s 0",
       "eager         10\n", "1.20K     12.3M", "answered/s 25, refused/s 0\n",
       "counter/s\n  rx_good_packets  100\n"});
  assert_true(text.find("odd") == std::string::npos); // has not moved
}

static void status_text__another_daemon_has_no_rates(void **) {
  const Status before = example_status();
  Status now = before;
  now.pid = 100;
  now.up = std::chrono::seconds(1);
  expect_equal(status_change_text(before, now), status_text(now).c_str());
}

// Of a rank with the address of one that has gone, all counts.
static void status_text__a_new_rank_has_begun_with_nothing(void **) {
  const Status before = example_status();
  Status now = before;
  now.up += std::chrono::seconds(1);
  now.devices[0].ranks.resize(1);
  now.devices[0].ranks[0].attached = std::chrono::milliseconds(500);
  expect_parts(status_change_text(before, now), {" 1.00K     64.0K"});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(status_text__has_all_there_is),
    cmocka_unit_test(status_text__without_ranks),
    cmocka_unit_test(status_text__where_no_probes_are_answered),
    cmocka_unit_test(status_text__changes_are_per_second),
    cmocka_unit_test(status_text__another_daemon_has_no_rates),
    cmocka_unit_test(status_text__a_new_rank_has_begun_with_nothing),
};
static const unit::Group group{"status_text", cases};

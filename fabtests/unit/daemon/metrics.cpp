// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/metrics.h"

#include <set>
#include <sstream>

#include "unit/daemon/example.h"
#include "unit/daemon/text.h"

using namespace dpdkx::daemon;

namespace {

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

} // namespace

// HELP, TYPE, then all samples of that name; each series once; counters end in _total.
static void metrics__have_the_form_that_prometheus_reads(void **) {
  std::set<std::string> names, series;
  std::string name;
  int state = 0;
  for (const std::string &line : lines_of(metrics_text(example_status()))) {
    std::istringstream words(line);
    std::string hash, keyword, metric, type;
    if (line.starts_with("# HELP ")) {
      words >> hash >> keyword >> name;
      assert_true(names.insert(name).second);
      assert_true(name.starts_with("dpdkxd_"));
      state = 1;
    } else if (line.starts_with("# TYPE ")) {
      words >> hash >> keyword >> metric >> type;
      assert_int_equal(state, 1);
      assert_true(metric == name);
      assert_true(type == (name.ends_with("_total") ? "counter" : "gauge"));
      state = 2;
    } else {
      assert_true(state >= 2);
      state = 3;
      assert_true(line.substr(0, line.find_first_of("{ ")) == name);
      assert_true(series.insert(line.substr(0, line.rfind(' '))).second);
    }
  }
  assert_int_equal(state, 3);
  assert_true(names.size() > 20);
}

static void metrics__values_and_labels(void **) {
  expect_parts(metrics_text(example_status()),
               {"dpdkxd_info{version=\"0.1.0\",socket=\"@dpdkxd\"} 1\n", "dpdkxd_up_seconds 100\n",
                "dpdkxd_processor_seconds_total 12.5\n", "dpdkxd_turns_total 1000000\n",
                "dpdkxd_max_ranks 1024\n", "dpdkxd_max_ranks_per_user 512\n",
                "dpdkxd_device_info{device=\"0000:01:00.0\",driver=\"mlx5_pci\",interface=\"eth0\","
                "address=\"10.0.0.1/24\",mac=\"02:00:00:00:00:1f\",numa_node=\"1\","
                "steering=\"RSS over 2 queues\"} 1\n",
                "dpdkxd_device_speed_bits_per_second{device=\"0000:01:00.0\"} 100000000000\n",
                "dpdkxd_probes_answered_total{device=\"0000:01:00.0\"} 44\n",
                "dpdkxd_probes_refused_total{device=\"0000:01:00.0\"} 55\n",
                "dpdkxd_device_ranks{device=\"0000:01:00.0\"} 2\n",
                "dpdkxd_queue_packets_total{device=\"0000:01:00.0\",queue=\"1\","
                "purpose=\"rank 10.0.0.1:49152\"} 222\n",
                "dpdkxd_rank_dropped_no_room_total{device=\"0000:01:00.0\","
                "address=\"10.0.0.1:49152\",pid=\"1234\",uid=\"1000\"} 3\n"});
}

static void metrics__labels_are_escaped(void **) {
  Status status = example_status();
  expect_parts(metrics_text(status), {R"(name="dropped: \"odd\"\\"} 2)"});
  status.devices[0].info.steering = "a\nb\x01\xff";
  expect_parts(metrics_text(status), {R"(steering="a\nb??")"});
}

static void metrics__counters_of_one_name_are_one(void **) {
  Status status = example_status();
  status.devices[0].counters = {{"x", 1}, {"x", 2}};
  const std::string text = metrics_text(status);
  expect_parts(text, {"name=\"x\"} 3\n"});
  assert_true(text.find("name=\"x\"") == text.rfind("name=\"x\""));
}

static void metrics__what_there_is_none_of_is_left_out(void **) {
  Status status = example_status();
  status.devices[0].ranks.clear();
  status.devices[0].info.bits_per_second = 0;
  const std::string text = metrics_text(status);
  assert_true(text.find("dpdkxd_rank_") == std::string::npos);
  assert_true(text.find("speed") == std::string::npos);
  expect_parts(text, {"dpdkxd_device_ranks{device=\"0000:01:00.0\"} 0\n"});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(metrics__have_the_form_that_prometheus_reads),
    cmocka_unit_test(metrics__values_and_labels),
    cmocka_unit_test(metrics__labels_are_escaped),
    cmocka_unit_test(metrics__counters_of_one_name_are_one),
    cmocka_unit_test(metrics__what_there_is_none_of_is_left_out),
};
static const unit::Group group{"metrics", cases};

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/metrics.h"

#include <fmt/format.h>
#include <initializer_list>
#include <map>
#include <string_view>
#include <utility>

namespace dpdkx::daemon {

namespace {

using Labels = std::initializer_list<std::pair<const char *, std::string_view>>;

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value)
    if (c == '\\' || c == '"')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else // a driver's text need not be UTF-8, without which nothing would be read
      out += c >= ' ' && c <= '~' ? c : '?';
  return out;
}

std::string labels_text(Labels labels) {
  std::string out;
  for (const auto &[name, value] : labels)
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, escaped(value));
  return out;
}

std::string seconds(Duration time) {
  return fmt::format("{}", std::chrono::duration<double>(time).count());
}

// A metric with its samples, which stand together.
class Metric {
public:
  Metric(std::string &out, const char *name, const char *type, const char *help)
      : out_(out), name_(name),
        head_(fmt::format("# HELP dpdkxd_{} {}\n# TYPE dpdkxd_{} {}\n", name, help, name, type)) {}

  void add(const std::string &labels, std::string_view value) {
    out_ += std::exchange(head_, {}); // none without a sample
    out_ += fmt::format("dpdkxd_{}{} {}\n", name_, labels.empty() ? "" : "{" + labels + "}", value);
  }
  void add(const std::string &labels, std::uint64_t value) { add(labels, std::to_string(value)); }

private:
  std::string &out_;
  const char *name_;
  std::string head_;
};

void add_own(std::string &out, const Status &status) {
  Metric(out, "info", "gauge", "The version that runs.")
      .add(labels_text({{"version", status.version}, {"socket", status.socket}}), 1);
  Metric(out, "up_seconds", "gauge", "Time since the start.").add({}, seconds(status.up));
  Metric(out, "processor_seconds_total", "counter", "Processor time of the forwarding thread.")
      .add({}, seconds(status.processor_time));
  Metric(out, "turns_total", "counter", "Looks at all devices and ranks.").add({}, status.turns);
  Metric(out, "sleeps_total", "counter", "Times that the forwarding thread has slept.")
      .add({}, status.sleeps);
  Metric(out, "ranks_refused_total", "counter", "Endpoints that could not attach.")
      .add({}, status.ranks_refused);
  Metric(out, "max_ranks", "gauge", "Endpoints that may be attached at once.")
      .add({}, status.max_ranks);
  Metric(out, "max_ranks_per_user", "gauge", "Those of one user, other than root.")
      .add({}, status.max_ranks_per_user);
}

// One sample for each device.
template <class Value>
void add_of_devices(std::string &out, const Status &status, const char *name, const char *type,
                    const char *help, Value &&value) {
  Metric metric(out, name, type, help);
  for (const DeviceStatus &device : status.devices)
    if (const std::string text = value(device); !text.empty())
      metric.add(labels_text({{"device", device.info.name}}), text);
}

void add_devices(std::string &out, const Status &status) {
  Metric info(out, "device_info", "gauge", "A device, and how packets get to its queues.");
  for (const DeviceStatus &device : status.devices)
    info.add(labels_text({{"device", device.info.name},
                          {"driver", device.info.driver},
                          {"interface", device.info.link_name},
                          {"address", net::to_string(device.info.address)},
                          {"mac", net::to_string(device.info.mac)},
                          {"numa_node", std::to_string(device.info.numa_node)},
                          {"steering", device.info.steering}}),
             1);
  add_of_devices(out, status, "device_mtu_bytes", "gauge", "Bytes of an IP packet at most.",
                 [](const DeviceStatus &device) { return std::to_string(device.info.mtu); });
  add_of_devices(out, status, "device_speed_bits_per_second", "gauge",
                 "Speed of the link, where it is known.", [](const DeviceStatus &device) {
                   return device.info.bits_per_second ? std::to_string(device.info.bits_per_second)
                                                      : std::string();
                 });
  const auto of_probes = [](std::uint64_t ProbeStatus::*count) {
    return [count](const DeviceStatus &device) {
      return device.probes.port != 0 ? std::to_string(device.probes.*count) : std::string();
    };
  };
  add_of_devices(out, status, "probes_answered_total", "counter",
                 "Probes of dpdkx-check that were answered.", of_probes(&ProbeStatus::answered));
  add_of_devices(out, status, "probes_refused_total", "counter",
                 "Probes that were not, as there were too many.", of_probes(&ProbeStatus::refused));
  add_of_devices(out, status, "device_ranks", "gauge", "Endpoints that are attached.",
                 [](const DeviceStatus &device) { return std::to_string(device.ranks.size()); });
}

void add_queues(std::string &out, const Status &status) {
  Metric packets(out, "queue_packets_total", "counter", "Packets from a receive queue.");
  for (const DeviceStatus &device : status.devices)
    for (const QueueStatus &queue : device.queues)
      packets.add(labels_text({{"device", device.info.name},
                               {"queue", std::to_string(queue.index)},
                               {"purpose", queue.purpose}}),
                  queue.packets);
  Metric counter(out, "device_counter_total", "counter",
                 "What the driver counts, and what was dropped here, by reason.");
  for (const DeviceStatus &device : status.devices) {
    std::map<std::string, std::uint64_t> sums; // a driver may give two one name
    for (const auto &[name, value] : device.counters)
      sums[name] += value;
    for (const auto &[name, value] : sums)
      counter.add(labels_text({{"device", device.info.name}, {"name", name}}), value);
  }
}

struct RankMetric {
  const char *name, *type, *help;
  std::string (*value)(const RankStatus &);
};

constexpr RankMetric rank_metrics[] = {
    {"rank_attached_seconds", "gauge", "Time since an endpoint has attached.",
     [](const RankStatus &rank) { return seconds(rank.attached); }},
    {"rank_sent_packets_total", "counter", "Packets from an endpoint to the network.",
     [](const RankStatus &rank) { return std::to_string(rank.to_network.packets); }},
    {"rank_sent_bytes_total", "counter", "Bytes of UDP payload of them.",
     [](const RankStatus &rank) { return std::to_string(rank.to_network.bytes); }},
    {"rank_received_packets_total", "counter", "Packets that an endpoint was given.",
     [](const RankStatus &rank) { return std::to_string(rank.to_rank.packets); }},
    {"rank_received_bytes_total", "counter", "Bytes of UDP payload of them.",
     [](const RankStatus &rank) { return std::to_string(rank.to_rank.bytes); }},
    {"rank_dropped_no_room_total", "counter",
     "Packets for an endpoint that were dropped while its ring was full.",
     [](const RankStatus &rank) { return std::to_string(rank.dropped_no_room); }},
    {"rank_send_refused_total", "counter",
     "Packets of an endpoint that were dropped while the device's queue was full.",
     [](const RankStatus &rank) { return std::to_string(rank.send_refused); }},
    {"rank_malformed_total", "counter", "Records that an endpoint should not have written.",
     [](const RankStatus &rank) { return std::to_string(rank.malformed); }},
    {"rank_acknowledged_total", "counter",
     "Packets that were acknowledged in an endpoint's name while it computed.",
     [](const RankStatus &rank) { return std::to_string(rank.acknowledged); }},
    {"rank_paths", "gauge", "Peers that an endpoint sends to.",
     [](const RankStatus &rank) { return std::to_string(rank.paths); }},
    {"rank_ring_bytes", "gauge", "Size of the ring towards an endpoint.",
     [](const RankStatus &rank) { return std::to_string(rank.ring_bytes); }},
    {"rank_ring_used_bytes", "gauge", "Bytes in it that the endpoint has not taken.",
     [](const RankStatus &rank) { return std::to_string(rank.ring_used); }},
};

void add_ranks(std::string &out, const Status &status) {
  for (const RankMetric &one : rank_metrics) {
    Metric metric(out, one.name, one.type, one.help);
    for (const DeviceStatus &device : status.devices)
      for (const RankStatus &rank : device.ranks)
        metric.add(labels_text({{"device", device.info.name},
                                {"address", to_string(rank.address)},
                                {"pid", std::to_string(rank.pid)},
                                {"uid", std::to_string(rank.uid)}}),
                   one.value(rank));
  }
}

} // namespace

std::string metrics_text(const Status &status) {
  std::string out;
  add_own(out, status);
  add_devices(out, status);
  add_queues(out, status);
  add_ranks(out, status);
  return out;
}

} // namespace dpdkx::daemon

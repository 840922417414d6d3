// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/status_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dpdkx::daemon {

namespace {

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

std::string time_text(Duration time) {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  if (s < 60)
    return fmt::format("{}s", s);
  if (s < 3600)
    return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (s < 86400)
    return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
  return fmt::format("{}d{:02}h", s / 86400, s / 3600 % 24);
}

// Three digits and a factor: 999, 12.3K, 4.56G.
std::string short_number(double value) {
  constexpr const char *factors[] = {"", "K", "M", "G", "T", "P", "E"};
  std::size_t factor = 0;
  while (value >= 999.5 && factor + 1 < std::size(factors)) {
    value /= 1000;
    ++factor;
  }
  const int digits = factor == 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, digits, factors[factor]);
}

std::string speed_text(std::uint64_t bits_per_second) {
  return bits_per_second == 0 ? std::string("speed unknown")
                              : short_number(static_cast<double>(bits_per_second)) + "bit/s";
}

// Columns as wide as what is in them; the first to the left, the others to the right.
class Table {
public:
  explicit Table(std::vector<std::string> head) { add(std::move(head)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() < 2; }

  std::string text() const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto &row : rows_)
      for (std::size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], row[i].size());
    std::string out;
    for (const auto &row : rows_) {
      std::string line = "  ";
      for (std::size_t i = 0; i < row.size(); ++i)
        line += i == 0 ? fmt::format("{:<{}}", row[i], widths[i])
                       : fmt::format("  {:>{}}", row[i], widths[i]);
      out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
  }

private:
  std::vector<std::vector<std::string>> rows_;
};

// A counter as it is, or per second since it was another value.
class Scale {
public:
  Scale() = default;
  explicit Scale(double interval) : interval_(interval) {}
  bool is_rate() const { return interval_ > 0; }
  std::string operator()(std::uint64_t now, std::uint64_t before) const {
    if (!is_rate())
      return std::to_string(now);
    return short_number(static_cast<double>(now - std::min(before, now)) / interval_);
  }

private:
  double interval_ = 0;
};

const DeviceStatus *like(const Status *before, const DeviceStatus &device) {
  for (std::size_t i = 0; before != nullptr && i < before->devices.size(); ++i)
    if (before->devices[i].info.name == device.info.name)
      return &before->devices[i];
  return nullptr;
}

// One that has attached since is another rank, though it may have the address of one that has gone.
RankStatus like(const DeviceStatus *before, const RankStatus &rank) {
  for (std::size_t i = 0; before != nullptr && i < before->ranks.size(); ++i) {
    const RankStatus &other = before->ranks[i];
    if (other.address == rank.address && other.pid == rank.pid && other.attached <= rank.attached)
      return other;
  }
  return {};
}

std::string head_text(const Status &now, const Status *before) {
  const Duration up = before ? now.up - before->up : now.up;
  const Duration busy = before ? now.processor_time - before->processor_time : now.processor_time;
  const double share = up.count() > 0 ? 100 * seconds(busy) / seconds(up) : 0;
  const Scale scale = before ? Scale(seconds(up)) : Scale();
  const char *each = before ? "/s" : "";
  std::size_t ranks = 0;
  for (const DeviceStatus &device : now.devices)
    ranks += device.ranks.size();
  return fmt::format(
      "dpdkxd {}, pid {}, on {}, up {}; processor {:.1f} %, turns{} {}, sleeps{} {}; "
      "ranks {} of {} ({} of a user), refused{} {}\n",
      now.version, now.pid, now.socket, time_text(now.up), share, each,
      scale(now.turns, before ? before->turns : 0), each,
      scale(now.sleeps, before ? before->sleeps : 0), ranks, now.max_ranks, now.max_ranks_per_user,
      each, scale(now.ranks_refused, before ? before->ranks_refused : 0));
}

std::string device_text(const DeviceStatus &device) {
  const link::DeviceInfo &info = device.info;
  std::string out = fmt::format("\n{}", info.name);
  if (info.link_name != info.name && !info.link_name.empty())
    out += " (" + info.link_name + ")";
  out += fmt::format(": {}, {}, {}, MTU {}, {}", info.driver, net::to_string(info.address),
                     net::to_string(info.mac), info.mtu, speed_text(info.bits_per_second));
  if (info.numa_node >= 0)
    out += fmt::format(", NUMA node {}", info.numa_node);
  return out + (info.steering.empty() ? "" : "; " + info.steering) + "\n";
}

std::string queues_text(const DeviceStatus &now, const DeviceStatus *before, const Scale &scale) {
  Table table({"queue", "for", scale.is_rate() ? "packets/s" : "packets"});
  for (const QueueStatus &queue : now.queues) {
    std::uint64_t packets = 0;
    for (std::size_t i = 0; before != nullptr && i < before->queues.size(); ++i)
      if (before->queues[i].index == queue.index && before->queues[i].purpose == queue.purpose)
        packets = before->queues[i].packets;
    table.add({std::to_string(queue.index), queue.purpose, scale(queue.packets, packets)});
  }
  return table.empty() ? std::string() : table.text();
}

std::string probes_text(const ProbeStatus &now, const DeviceStatus *before, const Scale &scale) {
  const ProbeStatus was = before != nullptr ? before->probes : ProbeStatus();
  if (now.port == 0)
    return {};
  const char *each = scale.is_rate() ? "/s" : "";
  return fmt::format("  probes of dpdkx-check at UDP port {}: answered{} {}, refused{} {}\n",
                     now.port, each, scale(now.answered, was.answered), each,
                     scale(now.refused, was.refused));
}

std::string ranks_text(const DeviceStatus &now, const DeviceStatus *before, const Scale &scale) {
  const bool rate = scale.is_rate();
  Table table({"rank", "pid", "uid", "since", "paths", rate ? "sent/s" : "sent",
               rate ? "sent B/s" : "sent B", rate ? "got/s" : "got", rate ? "got B/s" : "got B",
               "no room", "refused", "malformed", "acked", "ring"});
  for (const RankStatus &rank : now.ranks) {
    const RankStatus was = like(before, rank);
    const int full =
        rank.ring_bytes ? static_cast<int>(100ull * rank.ring_used / rank.ring_bytes) : 0;
    table.add({to_string(rank.address), rank.pid ? std::to_string(rank.pid) : "-",
               std::to_string(rank.uid), time_text(rank.attached), std::to_string(rank.paths),
               scale(rank.to_network.packets, was.to_network.packets),
               scale(rank.to_network.bytes, was.to_network.bytes),
               scale(rank.to_rank.packets, was.to_rank.packets),
               scale(rank.to_rank.bytes, was.to_rank.bytes),
               scale(rank.dropped_no_room, was.dropped_no_room),
               scale(rank.send_refused, was.send_refused), scale(rank.malformed, was.malformed),
               scale(rank.acknowledged, was.acknowledged), fmt::format("{} %", full)});
  }
  return table.empty() ? std::string("  no ranks\n") : table.text();
}

std::string counters_text(const DeviceStatus &now, const DeviceStatus *before, const Scale &scale) {
  Table table({scale.is_rate() ? "counter/s" : "counter", ""});
  for (const auto &[name, value] : now.counters) {
    std::uint64_t was = 0;
    for (std::size_t i = 0; before != nullptr && i < before->counters.size(); ++i)
      if (before->counters[i].first == name)
        was = before->counters[i].second;
    if (value != was)
      table.add({name, scale(value, was)});
  }
  return table.empty() ? std::string() : table.text();
}

std::string text_of(const Status &now, const Status *before) {
  std::string out = head_text(now, before);
  const Scale scale = before ? Scale(seconds(now.up - before->up)) : Scale();
  for (const DeviceStatus &device : now.devices) {
    const DeviceStatus *was = like(before, device);
    out += device_text(device) + queues_text(device, was, scale) + ranks_text(device, was, scale) +
           probes_text(device.probes, was, scale) + counters_text(device, was, scale);
  }
  return out;
}

} // namespace

std::string status_text(const Status &status) { return text_of(status, nullptr); }

std::string status_change_text(const Status &before, const Status &now) {
  const bool same = before.pid == now.pid && before.up < now.up;
  return text_of(now, same ? &before : nullptr);
}

} // namespace dpdkx::daemon

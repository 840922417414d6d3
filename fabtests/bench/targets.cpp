// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bench/targets.h"

#include <algorithm>

#include <fmt/format.h>

namespace fabtest {

namespace {

const std::string us = "dpdkx";

class judge_sheet {
public:
  explicit judge_sheet(const results &r) : r_(r) {}

  std::optional<double> latency(const std::string &section, std::size_t size,
                                const std::string &who) const {
    return r_.median(section, "latency", size, who);
  }

  void at_most(const std::string &figure, const std::string &rule, std::optional<double> value,
               std::optional<double> limit) {
    if (value && limit)
      verdicts.push_back({figure, rule, *value, *limit, *value <= *limit});
  }
  void at_least(const std::string &figure, const std::string &rule, std::optional<double> value,
                std::optional<double> limit) {
    if (value && limit)
      verdicts.push_back({figure, rule, *value, *limit, *value >= *limit});
  }

  void host();
  void devices();
  void remote(const std::string &section);
  void triggers();

  std::vector<verdict> verdicts;

private:
  const results &r_;
};

std::optional<double> times(double factor, std::optional<double> value) {
  return value ? std::optional(factor * *value) : std::nullopt;
}

void judge_sheet::host() {
  const auto small = latency("host", 8, us);
  at_most("host 8 B", "1.5 x shm", small, times(1.5, latency("host", 8, "shm")));
  std::optional<double> worst;
  for (const std::size_t size : {0, 8, 32, 64, 128, 256})
    if (const auto l = latency("host", size, us))
      worst = std::max(worst.value_or(0), *l);
  at_most("host 0..256 B, the slowest", "1.3 x 8 B", worst, times(1.3, small));
  at_most("host 2 KiB", "0.15 x tcp;ofi_rxm", latency("host", 2048, us),
          times(0.15, latency("host", 2048, "tcp;ofi_rxm")));
  at_least("host message rate, M/s", "2", r_.median("host", "rate", 8, us), 2.0);
  const auto shm = r_.median("host", "bandwidth", 1 << 20, "shm");
  at_least("host bandwidth 1 MiB, GB/s", "6 or 0.6 x shm, the higher",
           r_.median("host", "bandwidth", 1 << 20, us), std::max(6.0, 0.6 * shm.value_or(0)));
}

void judge_sheet::devices() {
  const auto raw = r_.best_tenth("memif", "latency", 8, "raw");
  at_most("memif 8 B, p10", "raw one way + 0.4 us", r_.best_tenth("memif", "latency", 8, us),
          raw ? std::optional(*raw + 0.4) : std::nullopt);
  for (const std::string section : {"veth", "jumbo"}) {
    at_most(section + " 8 B", "1.3 x raw", latency(section, 8, us),
            times(1.3, latency(section, 8, "raw")));
    for (const std::size_t size : {8, 256, 1024, 2048, 4096, 8192, 16384, 32768, 65536}) {
      const std::string figure = fmt::format("{} {} B", section, size);
      at_most(figure, "tcp;ofi_rxm", latency(section, size, us),
              latency(section, size, "tcp;ofi_rxm"));
      // Bytes between two sockets, that is, and no messages.
      at_most(figure, "kernel TCP's sockets", latency(section, size, us),
              latency(section, size, "kernel_tcp"));
    }
  }
}

void judge_sheet::remote(const std::string &section) {
  const auto round_trip = times(2, latency(section, 8, us));
  for (const std::string what : {"write", "fetch"})
    at_most(section + " 8 B " + what, "1.2 x tagged round trip", r_.median(section, what, 8, us),
            times(1.2, round_trip));
  at_least(section + " write bandwidth 1 MiB, GB/s", "that of messages",
           r_.median(section, "write_bandwidth", 1 << 20, us),
           r_.median(section, "bandwidth", 1 << 20, us));
}

void judge_sheet::triggers() {
  const auto figure = [&](const std::string &what, std::size_t size) {
    return r_.median("triggers", what, size, us);
  };
  const auto message = latency("triggers", 8, us);
  at_most("triggers remote add", "1.3 x 8 B message", figure("remote_add", 8), times(1.3, message));
  at_most("triggers hop of a chain", "8 B message + 0.2 us", figure("chain_hop", 8),
          message ? std::optional(*message + 0.2) : std::nullopt);
  at_least("triggers fired, M/s", "3", figure("fire_rate", 8), 3.0);
  at_most("triggers increment below 1 M works, ns", "1.1 x with none",
          figure("increment", 1'000'000), times(1.1, figure("increment", 0)));
}

} // namespace

std::vector<verdict> judge(const results &r) {
  judge_sheet sheet(r);
  sheet.host();
  sheet.devices();
  sheet.remote("remote");
  sheet.remote("remote_veth");
  sheet.triggers();
  return sheet.verdicts;
}

} // namespace fabtest

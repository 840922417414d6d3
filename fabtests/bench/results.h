// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// All values that were measured, by section, contestant, kind and size.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fabtest {

struct figure_key {
  std::string section;    // "host", "memif", "veth"
  std::string what;       // "latency", "rate", "bandwidth"
  std::size_t size = 0;   // bytes
  std::string contestant; // "dpdkx", "shm", "ring"
  auto operator<=>(const figure_key &) const = default;
};

// Of every run its batches' median; of all batches of all runs the 10th percentile on the good
// side.
struct series {
  std::string unit;
  std::vector<double> run_medians;
  std::vector<double> all;

  [[nodiscard]] double median() const;
  [[nodiscard]] double best_tenth() const;
  [[nodiscard]] bool smaller_is_better() const { return unit == "us" || unit == "ns"; }
};

double median_of(std::vector<double> values);
double quantile_of(std::vector<double> values, double q);

class results {
public:
  void add_run(const figure_key &key, const std::string &unit, const std::vector<double> &values);
  [[nodiscard]] const series *find(const figure_key &key) const;
  [[nodiscard]] std::optional<double> median(const std::string &section, const std::string &what,
                                             std::size_t size, const std::string &who) const;
  [[nodiscard]] std::optional<double> best_tenth(const std::string &section,
                                                 const std::string &what, std::size_t size,
                                                 const std::string &who) const;
  [[nodiscard]] const std::map<figure_key, series> &all() const { return series_; }

private:
  std::map<figure_key, series> series_;
};

} // namespace fabtest

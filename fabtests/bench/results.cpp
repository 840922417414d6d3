// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bench/results.h"

#include <algorithm>
#include <cmath>

namespace fabtest {

double quantile_of(std::vector<double> values, double q) {
  if (values.empty())
    return std::nan("");
  const auto n = static_cast<std::size_t>(std::llround(q * static_cast<double>(values.size() - 1)));
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(n));
  return values[n];
}

double median_of(std::vector<double> values) { return quantile_of(std::move(values), 0.5); }

double series::median() const { return median_of(run_medians); }

double series::best_tenth() const { return quantile_of(all, smaller_is_better() ? 0.1 : 0.9); }

void results::add_run(const figure_key &key, const std::string &unit,
                      const std::vector<double> &values) {
  auto &s = series_[key];
  s.unit = unit;
  s.run_medians.push_back(median_of(values));
  s.all.insert(s.all.end(), values.begin(), values.end());
}

const series *results::find(const figure_key &key) const {
  const auto it = series_.find(key);
  return it == series_.end() ? nullptr : &it->second;
}

std::optional<double> results::median(const std::string &section, const std::string &what,
                                      std::size_t size, const std::string &who) const {
  const series *s = find({section, what, size, who});
  return s ? std::optional(s->median()) : std::nullopt;
}

std::optional<double> results::best_tenth(const std::string &section, const std::string &what,
                                          std::size_t size, const std::string &who) const {
  const series *s = find({section, what, size, who});
  return s ? std::optional(s->best_tenth()) : std::nullopt;
}

} // namespace fabtest

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "progress.h"

#include <algorithm>
#include <vector>

namespace fabtest {

namespace {

std::vector<progress_source *> &sources() {
  static std::vector<progress_source *> list;
  return list;
}

} // namespace

progress_source::progress_source() { sources().push_back(this); }

progress_source::~progress_source() { std::erase(sources(), this); }

void drive_progress(const progress_source *caller) {
  for (auto *source : sources())
    if (source != caller)
      source->make_progress();
}

} // namespace fabtest

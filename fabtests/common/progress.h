// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The completion queues of this process that must be read while it waits for something else.
#pragma once

namespace fabtest {

class progress_source {
public:
  progress_source();
  progress_source(const progress_source &) = delete;
  progress_source &operator=(const progress_source &) = delete;
  virtual ~progress_source();

  virtual void make_progress() = 0;
};

// One call to each source that exists, but the caller. For the main thread of a rank.
void drive_progress(const progress_source *caller = nullptr);

} // namespace fabtest

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Poll sets: fi_poll(3). Queues and counters of one domain, looked at together.
#pragma once

#include "util_ext/domain.h"
#include "util_ext/lock.h"

#include <vector>

namespace util_ext {

class PollSet final : public Object<PollSet, fid_poll> {
public:
  static int open(Domain &, const fi_poll_attr *, fid_poll **) noexcept;

private:
  friend Object;
  // Of a counter, what was seen when it was last reported.
  struct Member {
    struct fid *object;
    std::uint64_t value = 0, errors = 0;
  };

  PollSet(Domain &, const fi_poll_attr &);
  ~PollSet() = default;
  static int poll(fid_poll *, void **context, int count) noexcept;
  static int add(fid_poll *, struct fid *, std::uint64_t flags) noexcept;
  static int remove(fid_poll *, struct fid *, std::uint64_t flags) noexcept;

  std::vector<Member>::iterator find(const struct fid *);
  int check(const struct fid *, std::uint64_t flags) const;
  static bool has_news(Member &);
  int gather(void **context, std::size_t count);

  const Hold<Domain> domain_;
  OptionalMutex mutex_;
  std::vector<Member> members_;
  std::size_t next_ = 0; // whom to look at first: who was reported last comes last
};

} // namespace util_ext

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Wait sets: fi_wait(3). Queues and counters that are opened with FI_WAIT_SET
// share the set's wait object: what is told to one of them wakes who waits for
// the set, and whoever waits looks at all of them.
#pragma once

#include "util_ext/fabric.h"
#include "util_ext/source_group.h"
#include "util_ext/wait.h"

#include <vector>

namespace util_ext {

// A queue or counter, as a set sees it: T has drive(), which makes progress, and
// quiet(): there is nothing to read. Any thread calls them. (Without a vtable, as
// T begins with what applications hold.)
struct WaitMember {
  template <class T>
  explicit WaitMember(T &t)
      : object(&t), drive([](void *o) { static_cast<T *>(o)->drive(); }),
        quiet([](void *o) noexcept { return static_cast<T *>(o)->quiet(); }) {}

  void *object;
  void (*drive)(void *);
  bool (*quiet)(void *) noexcept;
};

class WaitSet final : public Object<WaitSet, fid_wait> {
public:
  static int open(Fabric &, const fi_wait_attr *, fid_wait **) noexcept;
  // The set of an attribute wait_set. Null: it is none of this library's.
  static WaitSet *of(fid_wait *) noexcept;

  Wait &wait() { return wait_; }

  // fi_trywait, for the set and for any of its members.
  int try_wait() noexcept;

private:
  friend Object;
  friend class Membership;
  WaitSet(Fabric &, const fi_wait_attr &);
  ~WaitSet() = default;
  int start();
  static int control(struct fid *, int command, void *arg) noexcept;
  static int wait_call(fid_wait *, int timeout) noexcept;
  static fi_ops_wait *wait_ops();

  int add(const WaitMember &, WaitSource *);
  void remove(const void *object, WaitSource *) noexcept;
  void drive();
  bool quiet() noexcept;
  int wait_for(int timeout);

  const Hold<Fabric> fabric_;
  std::mutex mutex_;
  std::vector<WaitMember> members_;
  SourceGroup sources_;
  Wait wait_;
};

// A queue's or counter's place in a set, or none. The last member of its class:
// the first to go, so that the set never sees the rest half gone.
class Membership {
public:
  explicit Membership(WaitSet *set) { // null: none
    if (set)
      set_ = Hold(*set);
  }
  ~Membership();
  Membership(const Membership &) = delete;
  Membership &operator=(const Membership &) = delete;

  // 0 or a negative FI_E*.
  template <class T> int join(T &object, WaitSource *source) {
    return join(WaitMember(object), source);
  }
  explicit operator bool() const { return bool(set_); }
  WaitSet &set() const { return *set_; }

private:
  int join(const WaitMember &, WaitSource *);

  Hold<WaitSet> set_;
  void *object_ = nullptr; // once it has joined
  WaitSource *source_ = nullptr;
};

// What an `owner` (a CQ, say) is opened with: attributes wait_obj and wait_set.
struct WaitChoice {
  // 0, or -FI_EINVAL and a log line.
  int read(const fi_provider &, fi_log_subsys, const char *owner, unsigned object, fid_wait *set);
  Wait make(WaitSource *source) const { return set ? Wait(set->wait()) : Wait(source, object); }

  fi_wait_obj object = FI_WAIT_NONE;
  WaitSet *set = nullptr; // with FI_WAIT_SET
};

} // namespace util_ext

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/trigger.h"
#include "unit/property.h"

#include "util_ext/cntr.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "fake.h"

#include "unit/unit.h" // cmocka has macros that the standard library must not see

using util_ext::Cntr;
using util_ext::Triggers;
using util_ext::Work;

namespace {

struct Counter {
  explicit Counter(fake::Domain &domain) {
    fi_cntr_attr attr{};
    assert_int_equal(Cntr::open(domain, &attr, &cntr, nullptr), 0);
  }
  ~Counter() { assert_int_equal(fi_close(&cntr->fid), 0); }
  Counter(const Counter &) = delete;
  Cntr &operator*() const { return *Cntr::from(&cntr->fid); }
  Cntr *operator->() const { return &**this; }

  fid_cntr *cntr = nullptr;
};

// Calls a function; what that returns, fire() does.
template <class F> class Call final : public Work {
public:
  Call(F f, bool ends_later, const void *user) : Work(ends_later), f_(std::move(f)), user_(user) {}
  ~Call() = default;

private:
  int fire() noexcept override { return f_(*this); }
  const void *user() const noexcept override { return user_; }
  F f_;
  const void *user_;
};

template <class F>
std::unique_ptr<Work> work(F f, bool ends_later = false, const void *user = nullptr) {
  return std::make_unique<Call<F>>(std::move(f), ends_later, user);
}

// Notes a number.
std::unique_ptr<Work> noting(std::vector<int> &log, int number) {
  return work([&log, number](Work &) {
    log.push_back(number);
    return 0;
  });
}

using Log = std::vector<int>;

void assert_log(const Log &log, const Log &expected) {
  assert_int_equal(log.size(), expected.size());
  for (std::size_t i = 0; i < log.size(); ++i)
    assert_int_equal(log[i], expected[i]);
}

void reach__fires_in_the_order_of_thresholds_then_of_queuing(void **) {
  for (const fi_threading t : {FI_THREAD_DOMAIN, FI_THREAD_SAFE}) {
    fake::Domain domain(t);
    Counter c(domain);
    Log log;
    const std::uint64_t thresholds[] = {3, 2, 3, 1, 9, 2};
    for (int i = 0; i < 6; ++i)
      assert_int_equal(domain.triggers.queue({*c, thresholds[i]}, noting(log, i)), 0);
    fi_cntr_add(c.cntr, 3); // past several at once
    assert_log(log, {3, 1, 5, 0, 2});
    fi_cntr_add(c.cntr, 5);
    assert_log(log, {3, 1, 5, 0, 2});
    fi_cntr_add(c.cntr, 1);
    assert_log(log, {3, 1, 5, 0, 2, 4});
    assert_int_equal(domain.triggers.queued(), 0);
  }
}

void queue__what_is_reached_already_is_ready(void **) {
  fake::Domain domain;
  Counter c(domain);
  Log log;
  domain.triggers.queue({*c, 0}, noting(log, 0));
  assert_true(domain.triggers.due());
  assert_true(domain.triggers.run(false));
  fi_cntr_add(c.cntr, 7);
  for (const int threshold : {7, 0, 8, 3})
    domain.triggers.queue({*c, static_cast<std::uint64_t>(threshold)}, noting(log, threshold));
  domain.triggers.run(false);
  assert_log(log, {0, 7, 0, 3}); // ready at once: as they came
  assert_false(domain.triggers.run(true));
  fi_cntr_add(c.cntr, 1);
  assert_log(log, {0, 7, 0, 3, 8});
}

void level__is_the_sum_of_value_and_errors_modulo_2_64(void **) {
  fake::Domain domain;
  Counter c(domain);
  Log log;
  domain.triggers.queue({*c, 10}, noting(log, 10));
  fi_cntr_add(c.cntr, 6);
  fi_cntr_adderr(c.cntr, 3);
  assert_log(log, {});
  c->add_error(1); // the provider's: fired by whoever drives it
  assert_log(log, {});
  domain.triggers.run(false);
  assert_log(log, {10});
  // 2^64 - 7 subtracts 7; what has fired stays so, what waits is farther away.
  domain.triggers.queue({*c, 11}, noting(log, 11));
  fi_cntr_add(c.cntr, ~std::uint64_t{0} - 6);
  fi_cntr_add(c.cntr, 7);
  assert_log(log, {10});
  fi_cntr_add(c.cntr, 1);
  assert_log(log, {10, 11});
  // Below zero is very high.
  domain.triggers.queue({*c, ~std::uint64_t{0}}, noting(log, -1));
  fi_cntr_set(c.cntr, ~std::uint64_t{0} - 4);
  assert_log(log, {10, 11, -1});
  domain.triggers.queue({*c, 12}, noting(log, 12));
  fi_cntr_set(c.cntr, 8);
  domain.triggers.run(false);
  assert_log(log, {10, 11, -1, 12}); // was ready when it was queued: 2^64 - 1 >= 12
}

void set__reaches_and_may_take_out_of_reach(void **) {
  fake::Domain domain;
  Counter c(domain);
  Log log;
  domain.triggers.queue({*c, 5}, noting(log, 5));
  fi_cntr_set(c.cntr, 4);
  fi_cntr_set(c.cntr, 0);
  fi_cntr_add(c.cntr, 4);
  assert_log(log, {});
  fi_cntr_seterr(c.cntr, 1);
  assert_log(log, {5});
}

void ready__stays_so_whatever_comes(void **) {
  fake::Domain domain;
  Counter c(domain);
  Log log;
  domain.triggers.queue({*c, 5}, noting(log, 5));
  c->add(5);
  c->set(0);
  domain.triggers.queue({*c, 3}, noting(log, 3)); // not reached since
  domain.triggers.run(false);
  assert_log(log, {5});
  fi_cntr_add(c.cntr, 3);
  assert_log(log, {5, 3});
}

void fire__on_its_own_counter_and_round_a_ring_without_recursion(void **) {
  constexpr int hops = 10000;
  fake::Domain domain;
  Counter a(domain), b(domain);
  int depth = 0, deepest = 0, fired = 0;
  const auto adding_to = [&](Cntr &next) {
    return work([&](Work &) {
      deepest = std::max(deepest, ++depth);
      next.add(1);
      ++fired;
      --depth;
      return 0;
    });
  };
  for (int i = 0; i < hops; ++i)
    domain.triggers.queue({*a, static_cast<std::uint64_t>(i) + 1}, adding_to(*a));
  fi_cntr_add(a.cntr, 1);
  assert_int_equal(fired, hops);
  assert_int_equal(a->value(), hops + 1);
  fi_cntr_set(a.cntr, 0);
  for (int i = 0; i < hops; ++i) { // A -> B -> A
    domain.triggers.queue({*a, static_cast<std::uint64_t>(i) + 1}, adding_to(*b));
    domain.triggers.queue({*b, static_cast<std::uint64_t>(i) + 1}, adding_to(*a));
  }
  fi_cntr_add(a.cntr, 1);
  assert_int_equal(fired, 3 * hops);
  assert_int_equal(deepest, 1);
}

void again__leaves_the_order_of_its_counter(void **) {
  fake::Domain domain;
  Counter c(domain), d(domain);
  Log log;
  int refusals = 2;
  auto busy = work([&](Work &) {
    if (refusals-- > 0)
      return -FI_EAGAIN;
    log.push_back(1);
    return 0;
  });
  domain.triggers.queue({*c, 1}, std::move(busy));
  domain.triggers.queue({*c, 2}, noting(log, 2));
  domain.triggers.queue({*d, 1}, noting(log, 3));
  fi_cntr_add(c.cntr, 2);
  assert_true(domain.triggers.stuck());
  fi_cntr_add(d.cntr, 1); // others go on
  assert_log(log, {3});
  assert_false(domain.triggers.run(true));
  assert_log(log, {3});
  assert_true(domain.triggers.run(true));
  assert_log(log, {3, 1, 2});
  assert_false(domain.triggers.stuck());
}

void cancel__removes_what_has_not_fired(void **) {
  fake::Domain domain;
  Counter c(domain);
  Log log;
  fi_deferred_work handles[4]{};
  handles[3].context.internal[0] = &domain; // never queued: anything
  int i = 0;
  for (auto &h : std::span(handles, 3)) {
    assert_int_equal(domain.triggers.queue({*c, 1, nullptr, &h}, noting(log, i)), 0);
    ++i;
  }
  assert_int_equal(domain.triggers.cancel(handles[1]), 0);
  assert_int_equal(domain.triggers.cancel(handles[1]), -FI_ENOENT);
  assert_int_equal(domain.triggers.cancel(handles[3]), -FI_ENOENT);
  c->add(1); // ready, and yet not fired
  assert_int_equal(domain.triggers.cancel(handles[0]), 0);
  domain.triggers.run(false);
  assert_log(log, {2});
  assert_int_equal(domain.triggers.cancel(handles[2]), -FI_ENOENT);
  handles[3].context.internal[0] = nullptr; // another's place
  assert_int_equal(domain.triggers.cancel(handles[3]), -FI_ENOENT);
}

void cancel__of_a_handle_that_was_queued_twice(void **) {
  fake::Domain domain;
  Counter c(domain);
  Log log;
  fi_deferred_work handle{};
  for (int i = 0; i < 3; ++i)
    assert_int_equal(domain.triggers.queue({*c, 1, nullptr, &handle}, noting(log, i)), 0);
  assert_int_equal(domain.triggers.cancel(handle), 0); // the last
  assert_int_equal(domain.triggers.cancel(handle), 0); // one of the others
  fi_cntr_add(c.cntr, 1);
  assert_int_equal(log.size(), 1);
  assert_int_equal(domain.triggers.cancel(handle), -FI_ENOENT);
}

void cancel__from_within(void **) {
  fake::Domain domain;
  Counter c(domain);
  Log log;
  fi_deferred_work handles[3]{};
  int results[2];
  domain.triggers.queue({*c, 1, nullptr, &handles[0]}, work([&](Work &) {
                          results[0] = domain.triggers.cancel(handles[0]); // itself: too late
                          results[1] = domain.triggers.cancel(handles[1]);
                          return 0;
                        }));
  domain.triggers.queue({*c, 1, nullptr, &handles[1]}, noting(log, 1));
  domain.triggers.queue({*c, 1, nullptr, &handles[2]}, noting(log, 2));
  fi_cntr_add(c.cntr, 1);
  assert_int_equal(results[0], -FI_ENOENT);
  assert_int_equal(results[1], 0);
  assert_log(log, {2});
}

void flush__removes_all_or_those_of_one_counter(void **) {
  fake::Domain domain;
  Counter a(domain), b(domain);
  Log log;
  fi_deferred_work handles[5]{};
  for (int i = 0; i < 4; ++i)
    domain.triggers.queue(
        {i % 2 ? *b : *a, static_cast<std::uint64_t>(i / 2) + 1, nullptr, &handles[i]},
        noting(log, i));
  a->add(1); // one of its two is ready
  domain.triggers.flush(&*a);
  assert_int_equal(domain.triggers.queued(), 2);
  fi_cntr_add(a.cntr, 5);
  fi_cntr_add(b.cntr, 1);
  assert_log(log, {1});
  domain.triggers.flush();
  fi_cntr_add(b.cntr, 5);
  assert_log(log, {1});
  // What waits to be tried again is gone, too, also while it is tried.
  bool flushing = false;
  domain.triggers.queue({*a, 0, nullptr, &handles[4]}, work([&](Work &) {
                          if (flushing)
                            domain.triggers.flush();
                          return -FI_EAGAIN;
                        }));
  domain.triggers.run(true);
  assert_int_equal(domain.triggers.queued(), 1);
  flushing = true;
  domain.triggers.run(true);
  assert_int_equal(domain.triggers.queued(), 0);
  assert_false(domain.triggers.run(true));
}

void close__busy_while_works_name_the_counter(void **) {
  fake::Domain domain;
  Counter c(domain), done(domain);
  Work *begun = nullptr;
  domain.triggers.queue({*c, 1, &*done}, work(
                                             [&](Work &w) {
                                               begun = &w;
                                               return 0;
                                             },
                                             true));
  assert_int_equal(fi_close(&c.cntr->fid), -FI_EBUSY);
  fi_cntr_add(c.cntr, 1);
  assert_non_null(begun);
  assert_int_equal(fi_close(&done.cntr->fid), -FI_EBUSY);
  domain.triggers.ended(*begun, 0);
  assert_int_equal(done->value(), 1);
  // and both may go
}

void ended__counts_success_or_an_error(void **) {
  fake::Domain domain;
  Counter c(domain), done(domain);
  const auto with = [&](auto f) {
    domain.triggers.queue({*c, 0, &*done}, work(f, true));
    domain.triggers.run(false);
  };
  with([&](Work &w) {
    domain.triggers.ended(w, 0); // before it returns
    return 0;
  });
  assert_int_equal(done->value(), 1);
  with([&](Work &w) {
    domain.triggers.ended(w, FI_EIO);
    return 0;
  });
  assert_int_equal(done->errors(), 1);
  with([](Work &) { return -FI_EINVAL; }); // could not begin
  assert_int_equal(done->errors(), 2);
  assert_int_equal(done->value(), 1);
  // An error counts toward thresholds, and a completion counter may trigger more.
  Log log;
  domain.triggers.queue({*done, 4}, noting(log, 4));
  with([](Work &) { return -FI_EINVAL; });
  assert_log(log, {4});
}

void abandon__forgets_what_will_never_end(void **) {
  fake::Domain domain;
  Counter c(domain), done(domain);
  int a, b;
  std::vector<Work *> begun;
  for (const void *user : {&a, &b, &a})
    domain.triggers.queue({*c, 0, &*done}, work(
                                               [&](Work &w) {
                                                 begun.push_back(&w);
                                                 return 0;
                                               },
                                               true, user));
  domain.triggers.run(false);
  domain.triggers.abandon(&a);
  domain.triggers.ended(*begun[1], 0);
  assert_int_equal(done->value(), 1);
}

void limit__is_kept(void **) {
  fake::Domain domain;
  Counter c(domain);
  Log log;
  domain.triggers.limit = 2;
  assert_int_equal(domain.triggers.queue({*c, 1}, noting(log, 1)), 0);
  assert_int_equal(domain.triggers.queue({*c, 2}, noting(log, 2)), 0);
  assert_int_equal(domain.triggers.queue({*c, 3}, noting(log, 3)), -FI_ENOSPC);
  fi_cntr_add(c.cntr, 2);
  assert_int_equal(domain.triggers.queue({*c, 3}, noting(log, 3)), 0);
  fi_cntr_add(c.cntr, 1);
  assert_log(log, {1, 2, 3});
}

void memory__none_is_told_and_nothing_is_queued(void **) {
  fake::Domain domain;
  Counter c(domain);
  Log log;
  auto w = noting(log, 1);
  bool thrown = false;
  {
    const fake::NoMemory none;
    try {
      domain.triggers.queue({*c, 1}, std::move(w));
    } catch (const std::bad_alloc &) {
      thrown = true;
    }
  }
  fi_cntr_add(c.cntr, 1);
  assert_int_equal(log.size(), thrown ? 0 : 1);
  assert_int_equal(domain.triggers.queued(), 0);
}

// ---- against a simple reference

constexpr int counters = 3;

struct Action {
  int counter = -1; // none: it only notes
  bool sets = false;
  std::uint64_t value = 0;
  int refusals = 0; // -FI_EAGAIN so often
};

struct Step {
  enum Kind : std::uint8_t { queue, cancel, flush, flush_all, add, add_error, set, again } kind;
  int counter;
  std::uint64_t value;
  Action action;
};

// What the engine promises, by sorting.
class Reference {
public:
  std::vector<int> fired;
  std::uint64_t value[counters]{}, errors[counters]{};

  void queue(int id, const Step &s) {
    const Item item{id, s.counter, s.value, s.action};
    if (level(s.counter) >= s.value)
      make_ready(item);
    else
      waiting_.push_back(item);
    run();
  }
  bool cancel(int id) {
    const auto is = [id](const Item &i) { return i.id == id; };
    std::size_t gone = std::erase_if(waiting_, is);
    for (int c = 0; c < counters; ++c)
      gone += drop_ready(c, is);
    return gone != 0;
  }
  void flush(int counter) { // -1: all
    const auto is = [counter](const Item &i) { return counter < 0 || i.counter == counter; };
    std::erase_if(waiting_, is);
    for (int c = 0; c < counters; ++c)
      drop_ready(c, is);
  }
  void change(int c, std::uint64_t &v, std::uint64_t n) {
    v = n;
    std::vector<Item> reached;
    for (const Item &i : waiting_)
      if (i.counter == c && i.threshold <= level(c))
        reached.push_back(i);
    std::ranges::stable_sort(reached, {}, &Item::threshold);
    std::erase_if(waiting_,
                  [&](const Item &i) { return i.counter == c && i.threshold <= level(c); });
    for (const Item &i : reached)
      make_ready(i);
  }
  void run() {
    while (!due_.empty()) {
      const int c = due_.front();
      due_.pop_front();
      Item i = ready_[c].front();
      ready_[c].pop_front();
      if (!ready_[c].empty())
        due_.push_back(c);
      if (i.action.refusals > 0) {
        --i.action.refusals;
        ready_[c].push_front(i);
        std::erase(due_, c);
        stuck_.push_back(c);
        continue;
      }
      fired.push_back(i.id);
      if (i.action.counter >= 0) {
        std::uint64_t &v = value[i.action.counter];
        change(i.action.counter, v, i.action.sets ? i.action.value : v + i.action.value);
      }
    }
  }
  void again() {
    due_.insert(due_.end(), stuck_.begin(), stuck_.end());
    stuck_.clear();
    run();
  }

private:
  struct Item {
    int id, counter;
    std::uint64_t threshold;
    Action action;
  };
  std::uint64_t level(int c) const { return value[c] + errors[c]; }
  void make_ready(const Item &i) {
    ready_[i.counter].push_back(i);
    if (!std::ranges::count(due_, i.counter) && !std::ranges::count(stuck_, i.counter))
      due_.push_back(i.counter);
  }
  template <class Is> std::size_t drop_ready(int c, const Is &is) {
    const std::size_t gone = std::erase_if(ready_[c], is);
    if (ready_[c].empty()) {
      std::erase(due_, c);
      std::erase(stuck_, c);
    }
    return gone;
  }

  std::vector<Item> waiting_;
  std::deque<Item> ready_[counters];
  std::deque<int> due_, stuck_;
};

// The same steps, of the engine.
class Subject {
public:
  explicit Subject(fi_threading threading) : domain_(threading) {
    for (int i = 0; i < counters; ++i)
      counters_.emplace_back(domain_);
  }
  ~Subject() { domain_.triggers.flush(); }
  Subject(const Subject &) = delete;

  std::vector<int> fired;

  void queue(int id, const Step &s) {
    handles_.emplace_back();
    Action action = s.action;
    util_ext::Triggers &t = domain_.triggers;
    const auto call = id % 4 ? &util_ext::Triggers::queue_and_run : &util_ext::Triggers::queue;
    const auto rc = (t.*call)(
        {*counters_[static_cast<std::size_t>(s.counter)], s.value, nullptr, &handles_.back()},
        work([this, id, action](Work &) mutable {
          if (action.refusals-- > 0)
            return -FI_EAGAIN;
          fired.push_back(id);
          if (action.counter >= 0) {
            Cntr &c = *counters_[static_cast<std::size_t>(action.counter)];
            action.sets ? c.set(action.value) : c.add(action.value);
          }
          return 0;
        }));
    RC_ASSERT(rc == 0);
    t.run(false);
  }
  bool cancel(int id) {
    return domain_.triggers.cancel(handles_[static_cast<std::size_t>(id)]) == 0;
  }
  void flush(int counter) {
    domain_.triggers.flush(counter < 0 ? nullptr : &*counters_[static_cast<std::size_t>(counter)]);
  }
  fid_cntr *operator[](int c) { return counters_[static_cast<std::size_t>(c)].cntr; }
  void again() { domain_.triggers.run(true); }

private:
  fake::Domain domain_;
  std::deque<Counter> counters_;
  std::deque<fi_deferred_work> handles_;
};

rc::Gen<std::uint64_t> amounts() {
  return rc::gen::weightedOneOf<std::uint64_t>(
      {{8, rc::gen::inRange<std::uint64_t>(0, 12)},
       {1, rc::gen::element(~std::uint64_t{0}, ~std::uint64_t{0} - 6, std::uint64_t{1} << 63)}});
}

rc::Gen<Step> steps() {
  const auto counter = rc::gen::inRange(0, counters);
  return rc::gen::build<Step>(
      rc::gen::set(&Step::kind, rc::gen::weightedElement<Step::Kind>({{8, Step::queue},
                                                                      {2, Step::cancel},
                                                                      {1, Step::flush},
                                                                      {1, Step::flush_all},
                                                                      {8, Step::add},
                                                                      {1, Step::add_error},
                                                                      {1, Step::set},
                                                                      {2, Step::again}})),
      rc::gen::set(&Step::counter, counter), rc::gen::set(&Step::value, amounts()),
      rc::gen::set(
          &Step::action,
          rc::gen::build<Action>(
              rc::gen::set(&Action::counter, rc::gen::inRange(-1, counters)),
              rc::gen::set(&Action::sets, rc::gen::weightedElement<bool>({{5, false}, {1, true}})),
              rc::gen::set(&Action::value, amounts()),
              rc::gen::set(&Action::refusals,
                           rc::gen::weightedElement<int>({{8, 0}, {1, 1}, {1, 3}})))));
}

void check_against_reference(const std::vector<Step> &all, fi_threading threading) {
  Reference reference;
  Subject subject(threading);
  int id = 0;
  for (const Step &s : all) {
    const int c = s.counter;
    switch (s.kind) {
    case Step::queue:
      reference.queue(id, s);
      subject.queue(id, s);
      ++id;
      break;
    case Step::cancel:
      if (id) {
        const int which = static_cast<int>(s.value % static_cast<std::uint64_t>(id));
        RC_ASSERT(reference.cancel(which) == subject.cancel(which));
      }
      break;
    case Step::flush:
      reference.flush(c);
      subject.flush(c);
      break;
    case Step::flush_all:
      reference.flush(-1);
      subject.flush(-1);
      break;
    case Step::add:
      reference.change(c, reference.value[c], reference.value[c] + s.value);
      reference.run();
      fi_cntr_add(subject[c], s.value);
      break;
    case Step::add_error:
      reference.change(c, reference.errors[c], reference.errors[c] + s.value);
      reference.run();
      fi_cntr_adderr(subject[c], s.value);
      break;
    case Step::set:
      reference.change(c, reference.value[c], s.value);
      reference.run();
      fi_cntr_set(subject[c], s.value);
      break;
    case Step::again:
      reference.again();
      subject.again();
      break;
    }
    RC_ASSERT(reference.fired == subject.fired);
    for (int i = 0; i < counters; ++i)
      RC_ASSERT(fi_cntr_read(subject[i]) == reference.value[i]);
  }
}

void all__as_a_simple_reference(void **) {
  assert_true(unit::holds("trigger engine", [] {
    const auto all = *rc::gen::scale(4.0, rc::gen::container<std::vector<Step>>(steps()));
    for (const fi_threading t : {FI_THREAD_DOMAIN, FI_THREAD_SAFE})
      check_against_reference(all, t);
  }));
}

// ---- threads

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int rounds = 50'000;
#else
constexpr int rounds = 1'000'000;
#endif

void threads__arming_while_another_adds_loses_nothing(void **) {
  fake::Domain domain;
  Counter c(domain);
  std::atomic<int> fired{0};
  std::thread adding([&] {
    for (int i = 0; i < rounds; ++i) {
      c->add(1);
      domain.triggers.run(false);
    }
  });
  for (int i = 0; i < rounds; ++i) {
    // Thresholds close to where the other thread is.
    domain.triggers.queue({*c, std::min<std::uint64_t>(c->value() + 1, rounds)}, work([&](Work &) {
                            fired.fetch_add(1);
                            return 0;
                          }));
    domain.triggers.run(false);
  }
  adding.join();
  domain.triggers.run(false);
  assert_int_equal(fired.load(), rounds);
}

void threads__adding_queuing_and_cancelling_at_once(void **) {
  constexpr int each = rounds / 10;
  fake::Domain domain;
  Counter c(domain), done(domain);
  std::atomic<int> fired{0}, cancelled{0};
  std::atomic<bool> stop{false};
  std::thread adding([&] {
    while (!stop.load()) {
      fi_cntr_add(c.cntr, 1);
      c->add(~std::uint64_t{0});
      domain.triggers.run(false);
    }
  });
  const auto queue_and_cancel = [&] {
    std::vector<fi_deferred_work> handles(8);
    for (int i = 0; i < each; ++i) {
      auto &h = handles[static_cast<std::size_t>(i) % handles.size()];
      cancelled += domain.triggers.cancel(h) == 0; // what is left of its last use
      domain.triggers.queue({*c, c->value() + 1, &*done, &h}, work(
                                                                  [&](Work &w) {
                                                                    fired.fetch_add(1);
                                                                    domain.triggers.ended(w, 0);
                                                                    return 0;
                                                                  },
                                                                  true));
      domain.triggers.run(false);
    }
    for (auto &h : handles)
      cancelled += domain.triggers.cancel(h) == 0;
  };
  std::thread other(queue_and_cancel);
  queue_and_cancel();
  other.join();
  stop.store(true);
  adding.join();
  domain.triggers.run(false);
  assert_int_equal(fired.load() + cancelled.load(), 2 * each);
  assert_int_equal(done->value(), fired.load());
  assert_int_equal(domain.triggers.queued(), 0);
}

// Whoever sees what a work has done may close the counters that it named.
void threads__closing_right_after_the_end_is_seen(void **) {
  fake::Domain domain;
  std::atomic<bool> stop{false};
  std::thread driving([&] {
    while (!stop.load())
      domain.triggers.run(true);
  });
  for (int i = 0; i < rounds / 100; ++i) {
    Counter trigger(domain), target(domain), done(domain);
    domain.triggers.queue({*trigger, 1}, work([&](Work &) {
                            target->add(1);
                            return 0;
                          }));
    domain.triggers.queue({*trigger, 1, &*done}, work(
                                                     [&](Work &w) {
                                                       domain.triggers.ended(w, 0);
                                                       return 0;
                                                     },
                                                     true));
    trigger->add(1);
    while (target->value() == 0 || done->value() == 0)
      std::this_thread::yield();
  } // Counter's destructor: 0, not -FI_EBUSY
  stop.store(true);
  driving.join();
}

const CMUnitTest cases[] = {
    cmocka_unit_test(reach__fires_in_the_order_of_thresholds_then_of_queuing),
    cmocka_unit_test(queue__what_is_reached_already_is_ready),
    cmocka_unit_test(level__is_the_sum_of_value_and_errors_modulo_2_64),
    cmocka_unit_test(set__reaches_and_may_take_out_of_reach),
    cmocka_unit_test(ready__stays_so_whatever_comes),
    cmocka_unit_test(fire__on_its_own_counter_and_round_a_ring_without_recursion),
    cmocka_unit_test(again__leaves_the_order_of_its_counter),
    cmocka_unit_test(cancel__removes_what_has_not_fired),
    cmocka_unit_test(cancel__of_a_handle_that_was_queued_twice),
    cmocka_unit_test(cancel__from_within),
    cmocka_unit_test(flush__removes_all_or_those_of_one_counter),
    cmocka_unit_test(close__busy_while_works_name_the_counter),
    cmocka_unit_test(ended__counts_success_or_an_error),
    cmocka_unit_test(abandon__forgets_what_will_never_end),
    cmocka_unit_test(limit__is_kept),
    cmocka_unit_test(memory__none_is_told_and_nothing_is_queued),
    cmocka_unit_test(all__as_a_simple_reference),
    cmocka_unit_test(threads__arming_while_another_adds_loses_nothing),
    cmocka_unit_test(threads__adding_queuing_and_cancelling_at_once),
    cmocka_unit_test(threads__closing_right_after_the_end_is_seen),
};
const unit::Group group{"trigger", cases};

} // namespace

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/match.h"
#include "unit/property.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "fake.h"

#include "unit/unit.h" // cmocka has macros that the standard library must not see

using util_ext::Matcher;
using util_ext::PostedReceive;
using util_ext::UnexpectedMessage;

namespace {

PostedReceive receive(std::uint64_t tag, std::uint64_t ignore = 0, fi_addr_t src = FI_ADDR_UNSPEC) {
  PostedReceive r;
  r.tag = tag;
  r.ignore = ignore;
  r.src = src;
  return r;
}

UnexpectedMessage message(std::uint64_t tag, fi_addr_t src = 1) {
  UnexpectedMessage m;
  m.tag = tag;
  m.src = src;
  return m;
}

void find_posted__takes_the_oldest_that_matches(void **) {
  Matcher m;
  PostedReceive a = receive(1), b = receive(2), c = receive(2), d = receive(0, ~0ULL);
  for (auto *r : {&a, &b, &c, &d})
    m.post(*r);
  assert_ptr_equal(m.find_posted(2, 7), &b);
  m.remove(b);
  assert_ptr_equal(m.find_posted(2, 7), &c);
  m.remove(c);
  assert_ptr_equal(m.find_posted(2, 7), &d);
  m.remove(d);
  assert_null(m.find_posted(2, 7));
  m.remove(a);
  assert_true(m.posted_empty());
}

void find_posted__leaves_it_posted(void **) {
  Matcher m;
  PostedReceive a = receive(0);
  m.post(a);
  assert_ptr_equal(m.find_posted(0, 1), &a);
  assert_ptr_equal(m.find_posted(0, 1), &a);
  assert_int_equal(m.posted_count(), 1);
}

void find_posted__keeps_to_the_source(void **) {
  Matcher m;
  PostedReceive from3 = receive(5, 0, 3), any = receive(5);
  m.post(from3);
  m.post(any);
  assert_ptr_equal(m.find_posted(5, 3), &from3);
  assert_ptr_equal(m.find_posted(5, 4), &any);
  assert_ptr_equal(m.find_posted(5, FI_ADDR_NOTAVAIL), &any);
}

void find_unexpected__takes_the_oldest_that_matches(void **) {
  Matcher m;
  UnexpectedMessage a = message(0x10, 1), b = message(0x11, 2), c = message(0x11, 1);
  for (auto *u : {&a, &b, &c})
    m.add(*u);
  assert_ptr_equal(m.find_unexpected(0x10, 0xf, FI_ADDR_UNSPEC), &a);
  assert_ptr_equal(m.find_unexpected(0x11, 0, FI_ADDR_UNSPEC), &b);
  assert_ptr_equal(m.find_unexpected(0x11, 0, 1), &c);
  assert_null(m.find_unexpected(0x20, 0xf, FI_ADDR_UNSPEC));
}

void find_unexpected__of_a_peer_not_in_the_av(void **) {
  Matcher m;
  UnexpectedMessage a = message(1, FI_ADDR_NOTAVAIL);
  m.add(a);
  assert_null(m.find_unexpected(1, 0, 6));
  assert_ptr_equal(m.find_unexpected(1, 0, FI_ADDR_UNSPEC), &a);
  m.set_source(a, 6);
  assert_ptr_equal(m.find_unexpected(1, 0, 6), &a);
}

void claim__takes_it_out_of_matching(void **) {
  Matcher m;
  UnexpectedMessage a = message(1), b = message(1);
  m.add(a);
  m.add(b);
  m.claim(a);
  assert_true(a.claimed);
  assert_ptr_equal(m.find_unexpected(1, 0, FI_ADDR_UNSPEC), &b);
  assert_int_equal(m.unexpected_count(), 1);
  m.remove(a);
  assert_ptr_equal(m.find_unexpected(1, 0, FI_ADDR_UNSPEC), &b);
  m.remove(b);
  assert_int_equal(m.unexpected_count(), 0);
}

void for_each__may_remove_what_it_is_given(void **) {
  Matcher m;
  std::vector<PostedReceive> posted(100);
  std::vector<UnexpectedMessage> unexpected(100);
  for (std::size_t i = 0; i < 100; ++i) {
    posted[i] = receive(i);
    unexpected[i] = message(i);
    m.post(posted[i]);
    m.add(unexpected[i]);
  }
  assert_non_null(m.find_unexpected(99, 0, FI_ADDR_UNSPEC)); // makes a table
  std::uint64_t next = 0;
  m.for_each_posted([&](PostedReceive &r) {
    assert_int_equal(r.tag, next++);
    m.remove(r);
  });
  next = 0;
  m.for_each_unexpected([&](UnexpectedMessage &u) {
    assert_int_equal(u.tag, next++);
    m.remove(u);
  });
  assert_true(m.posted_empty());
  assert_int_equal(m.unexpected_count(), 0);
}

// ---- against plain vectors, in order of age

struct Reference {
  std::vector<PostedReceive *> posted;
  std::vector<UnexpectedMessage *> unexpected;

  static bool fits(std::uint64_t msg_tag, fi_addr_t msg_src, std::uint64_t tag,
                   std::uint64_t ignore, fi_addr_t src) {
    return (msg_tag & ~ignore) == (tag & ~ignore) && (src == FI_ADDR_UNSPEC || src == msg_src);
  }
  PostedReceive *find_posted(std::uint64_t tag, fi_addr_t src) const {
    for (PostedReceive *r : posted)
      if (fits(tag, src, r->tag, r->ignore, r->src))
        return r;
    return nullptr;
  }
  UnexpectedMessage *find_unexpected(std::uint64_t tag, std::uint64_t ignore, fi_addr_t src) const {
    for (UnexpectedMessage *m : unexpected)
      if (fits(m->tag, m->src, tag, ignore, src))
        return m;
    return nullptr;
  }
};

// One step; `times` makes queues long enough for the tables.
struct Step {
  int what;
  int times;
  std::uint64_t tag, ignore;
  fi_addr_t src;
  std::size_t pick;
};

std::ostream &operator<<(std::ostream &out, const Step &s) {
  return out << s.what << " x" << s.times << " tag " << s.tag << " ignore " << s.ignore << " src "
             << s.src << " pick " << s.pick;
}

class Machine {
public:
  void run(const Step &s) {
    for (int i = 0; i < s.times; ++i)
      one(s, static_cast<std::uint64_t>(i));
    RC_ASSERT(matcher_.posted_count() == reference_.posted.size());
    RC_ASSERT(matcher_.unexpected_count() == reference_.unexpected.size());
  }

private:
  template <class T> static void erase(std::vector<T *> &v, T *x) {
    v.erase(std::find(v.begin(), v.end(), x));
  }

  void one(const Step &s, std::uint64_t i) {
    const std::uint64_t tag = (s.tag + i * s.pick) % 64;
    switch (s.what) {
    case 0:
    case 1: { // a message arrives
      PostedReceive *r = matcher_.find_posted(tag, s.src);
      RC_ASSERT(r == reference_.find_posted(tag, s.src));
      if (r) {
        matcher_.remove(*r);
        erase(reference_.posted, r);
      } else {
        UnexpectedMessage *m = keep(messages_, message(tag, s.src));
        matcher_.add(*m);
        reference_.unexpected.push_back(m);
      }
      break;
    }
    case 2:
    case 3: { // a receive is posted
      UnexpectedMessage *m = matcher_.find_unexpected(tag, s.ignore, s.src);
      RC_ASSERT(m == reference_.find_unexpected(tag, s.ignore, s.src));
      if (m) {
        matcher_.remove(*m);
        erase(reference_.unexpected, m);
      } else {
        PostedReceive *r = keep(receives_, receive(tag, s.ignore, s.src));
        matcher_.post(*r);
        reference_.posted.push_back(r);
      }
      break;
    }
    case 4: // one is cancelled
      if (!reference_.posted.empty()) {
        PostedReceive *r = reference_.posted[s.pick % reference_.posted.size()];
        matcher_.remove(*r);
        erase(reference_.posted, r);
      }
      break;
    case 5: // one is claimed
      if (!reference_.unexpected.empty()) {
        UnexpectedMessage *m = reference_.unexpected[s.pick % reference_.unexpected.size()];
        matcher_.claim(*m);
        erase(reference_.unexpected, m);
        if (s.pick & 1)
          matcher_.remove(*m);
      }
      break;
    case 6: // a peer gets into the AV
      if (!reference_.unexpected.empty()) {
        UnexpectedMessage *m = reference_.unexpected[s.pick % reference_.unexpected.size()];
        if (m->src == FI_ADDR_NOTAVAIL)
          matcher_.set_source(*m, s.src);
      }
      break;
    default: { // peek, keeping it
      RC_ASSERT(matcher_.find_unexpected(tag, s.ignore, s.src) ==
                reference_.find_unexpected(tag, s.ignore, s.src));
    }
    }
  }

  template <class T> static T *keep(std::vector<std::unique_ptr<T>> &v, const T &x) {
    v.push_back(std::make_unique<T>(x));
    return v.back().get();
  }

  Matcher matcher_;
  Reference reference_;
  std::vector<std::unique_ptr<PostedReceive>> receives_;
  std::vector<std::unique_ptr<UnexpectedMessage>> messages_;
};

rc::Gen<Step> steps(rc::Gen<std::uint64_t> ignore, rc::Gen<std::uint64_t> tag) {
  return rc::gen::build<Step>(
      rc::gen::set(&Step::what, rc::gen::inRange(0, 8)),
      rc::gen::set(&Step::times, rc::gen::inRange(1, 40)), rc::gen::set(&Step::tag, tag),
      rc::gen::set(&Step::ignore, ignore),
      rc::gen::set(&Step::src, rc::gen::element<fi_addr_t>(FI_ADDR_UNSPEC, 0, 1, 2)),
      rc::gen::set(&Step::pick, rc::gen::inRange<std::size_t>(0, 1000)));
}

void run_all(const std::vector<Step> &all) {
  Machine machine;
  for (const Step &s : all)
    machine.run(s);
}

void matcher__agrees_with_a_plain_list(void **) {
  assert_true(unit::holds("few masks", [] {
    run_all(*rc::gen::container<std::vector<Step>>(
        steps(rc::gen::element<std::uint64_t>(0, 0, 0x7, 0x38, ~0ULL),
              rc::gen::inRange<std::uint64_t>(0, 64))));
  }));
}

void matcher__agrees_with_a_plain_list_for_more_masks_than_tables(void **) {
  assert_true(unit::holds("many masks", [] {
    run_all(*rc::gen::container<std::vector<Step>>(
        steps(rc::gen::inRange<std::uint64_t>(0, 256), rc::gen::inRange<std::uint64_t>(0, 64))));
  }));
}

// Each receive has a mask of its own, so that there are more classes than tables.
// Then most are cancelled, and the rest get tables after all.
void find_posted__of_many_classes(void **) {
  Matcher m;
  std::vector<PostedReceive> r(300);
  for (std::uint64_t i = 0; i < r.size(); ++i) {
    r[i] = receive(i << 32 | i, i);
    m.post(r[i]);
  }
  for (std::uint64_t i = 0; i < r.size(); ++i)
    assert_ptr_equal(m.find_posted(i << 32, 1), &r[i]);
  assert_null(m.find_posted(r.size() << 32, 1));
  for (std::size_t i = 0; i < r.size(); ++i)
    if (i >= 5)
      m.remove(r[i]);
  for (std::uint64_t i = 5; i < 60; ++i)
    m.post(r[i]);
  for (std::uint64_t i = 0; i < 60; ++i)
    assert_ptr_equal(m.find_posted(i << 32, 1), &r[i]);
}

void matcher__walks_when_there_is_no_memory(void **) {
  std::vector<PostedReceive> r(100);
  std::vector<UnexpectedMessage> u(100);
  Matcher m;
  for (const bool memory : {false, true}) {
    std::unique_ptr<fake::NoMemory> none(memory ? nullptr : new fake::NoMemory);
    for (std::uint64_t i = 0; i < 100; ++i) {
      r[i] = receive(i);
      u[i] = message(i);
      m.post(r[i]);
      m.add(u[i]);
    }
    for (std::uint64_t i = 0; i < 100; ++i) {
      assert_ptr_equal(m.find_posted(99 - i, 1), &r[99 - i]);
      assert_ptr_equal(m.find_unexpected(99 - i, 0, 1), &u[99 - i]);
      m.remove(r[99 - i]);
      m.remove(u[99 - i]);
    }
  }
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(find_posted__takes_the_oldest_that_matches),
    cmocka_unit_test(find_posted__leaves_it_posted),
    cmocka_unit_test(find_posted__keeps_to_the_source),
    cmocka_unit_test(find_unexpected__takes_the_oldest_that_matches),
    cmocka_unit_test(find_unexpected__of_a_peer_not_in_the_av),
    cmocka_unit_test(claim__takes_it_out_of_matching),
    cmocka_unit_test(for_each__may_remove_what_it_is_given),
    cmocka_unit_test(find_posted__of_many_classes),
    cmocka_unit_test(matcher__walks_when_there_is_no_memory),
    cmocka_unit_test(matcher__agrees_with_a_plain_list),
    cmocka_unit_test(matcher__agrees_with_a_plain_list_for_more_masks_than_tables),
};
static const unit::Group group{"match", cases};

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/av.h"

#include "fake.h"
#include "util_ext/eq.h"

#include <arpa/inet.h>
#include <cstring>
#include <thread>

#include "unit/unit.h"

using util_ext::Av;
using util_ext::SockAddr;

namespace {

class Vector {
public:
  explicit Vector(fake::Domain &domain, std::uint64_t flags = 0) {
    fi_av_attr attr{};
    attr.type = FI_AV_TABLE;
    attr.flags = flags;
    assert_int_equal(Av::open(domain, &attr, &av, this), 0);
  }
  ~Vector() { fi_close(&av->fid); }
  Vector(const Vector &) = delete;
  Av &impl() { return *Av::from(&av->fid); }

  fid_av *av = nullptr;
};

sockaddr_in v4(const char *ip, std::uint16_t port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(port);
  inet_pton(AF_INET, ip, &a.sin_addr);
  return a;
}

sockaddr_in6 v6(const char *ip, std::uint16_t port) {
  sockaddr_in6 a{};
  a.sin6_family = AF_INET6;
  a.sin6_port = htons(port);
  inet_pton(AF_INET6, ip, &a.sin6_addr);
  return a;
}

bool holds(Vector &v, fi_addr_t index, const char *text) {
  const SockAddr *a = v.impl().lookup(index);
  return a && to_text(*a) == text;
}

// ---- open, close

void open__refuses_what_it_cannot_do_and_says_so(void **) {
  fake::Domain domain;
  fid_av *av;
  const auto rc = [&](auto &&change) {
    fi_av_attr attr{};
    change(attr);
    return Av::open(domain, &attr, &av, nullptr);
  };
  assert_int_equal(rc([](fi_av_attr &a) { a.name = "FI_NAMED_AV_0", a.flags = FI_READ; }),
                   -FI_ENOSYS);
  assert_int_equal(rc([](fi_av_attr &a) { a.flags = FI_READ; }), -FI_ENOSYS);
  assert_int_equal(rc([](fi_av_attr &a) { a.flags = FI_MORE; }), -FI_ENOSYS);
  assert_int_equal(rc([](fi_av_attr &a) { a.rx_ctx_bits = 2; }), -FI_EINVAL);
  assert_int_equal(rc([](fi_av_attr &a) { fake::put_raw(a.type, 7); }), -FI_EINVAL);
  assert_int_equal(fake::take_log().size(), 5);
  assert_false(domain.in_use());
}

void open__chooses_a_type_and_takes_hints(void **) {
  fake::Domain domain;
  fid_av *av;
  fi_av_attr attr{};
  attr.count = ~std::size_t{0}; // a hint, if a wild one
  attr.ep_per_node = 4;
  attr.flags = FI_SYMMETRIC;
  assert_int_equal(Av::open(domain, &attr, &av, nullptr), 0);
  assert_int_equal(attr.type, FI_AV_TABLE);
  assert_int_equal(fi_close(&av->fid), 0);
  attr.type = FI_AV_MAP;
  attr.count = 1 << 16;
  assert_int_equal(Av::open(domain, &attr, &av, nullptr), 0);
  assert_int_equal(attr.type, FI_AV_MAP);
  assert_int_equal(fi_close(&av->fid), 0);
}

// ---- insert

void insert__gives_indices_in_order(void **) {
  fake::Domain domain;
  Vector v(domain);
  const sockaddr_in a[] = {v4("10.0.0.1", 1), v4("10.0.0.2", 2), v4("10.0.0.1", 1)};
  fi_addr_t index[3];
  assert_int_equal(fi_av_insert(v.av, a, 3, index, FI_MORE, nullptr), 3);
  assert_int_equal(index[0], 0);
  assert_int_equal(index[1], 1);
  assert_int_equal(index[2], 0); // a duplicate counts a reference
  assert_int_equal(v.impl().high_water(), 2);
  assert_int_equal(fi_av_insert(v.av, a, 2, nullptr, 0, nullptr), 2);
  assert_int_equal(fi_av_insert(v.av, a, 0, nullptr, 0, nullptr), 0);
  assert_int_equal(fi_av_insert(v.av, nullptr, 1, nullptr, 0, nullptr), -FI_EINVAL);
}

void insert__counts_what_succeeded(void **) {
  fake::Domain domain;
  Vector v(domain);
  sockaddr_in none{};
  const sockaddr_in a[] = {v4("10.0.0.1", 1), none, v4("0.0.0.0", 5), v4("10.0.0.3", 0),
                           v4("10.0.0.2", 2)};
  fi_addr_t index[5];
  int errors[5] = {-1, -1, -1, -1, -1};
  fake::take_log();
  assert_int_equal(fi_av_insert(v.av, a, 5, index, FI_SYNC_ERR, errors), 2);
  const int expected[5] = {0, FI_EINVAL, FI_EINVAL, FI_EINVAL, 0};
  assert_memory_equal(errors, expected, sizeof errors);
  assert_int_equal(index[0], 0);
  for (int i = 1; i < 4; ++i)
    assert_true(index[i] == FI_ADDR_NOTAVAIL);
  assert_int_equal(index[4], 1);
  const auto log = fake::take_log();
  assert_int_equal(log.size(), 1);
  assert_non_null(std::strstr(log[0].c_str(), "3 of 5"));
  assert_non_null(std::strstr(log[0].c_str(), "number 1"));
}

void insert__refuses_flags_that_it_does_not_know(void **) {
  fake::Domain domain;
  Vector v(domain);
  const sockaddr_in a = v4("10.0.0.1", 1);
  assert_int_equal(fi_av_insert(v.av, &a, 1, nullptr, FI_PEEK, nullptr), -FI_EBADFLAGS);
  assert_int_equal(fi_av_insert(v.av, &a, 1, nullptr, FI_SYNC_ERR, nullptr), -FI_EINVAL);
  assert_int_equal(fake::take_log().size(), 2);
}

void user_id__goes_with_an_index_until_it_is_free(void **) {
  fake::Domain domain;
  Vector v(domain, FI_AV_USER_ID);
  const sockaddr_in a[3] = {v4("10.0.0.1", 1), v4("10.0.0.2", 1), v4("10.0.0.1", 1)};
  assert_int_equal(fi_av_insert(v.av, a, 2, nullptr, FI_AV_USER_ID, nullptr), -FI_EINVAL);
  assert_int_equal(fake::take_log().size(), 1);

  constexpr fi_addr_t high = 0x0123456789abcdef;
  fi_addr_t ids[3] = {high, 0, 77};
  assert_int_equal(fi_av_insert(v.av, a, 3, ids, FI_AV_USER_ID, nullptr), 3);
  assert_int_equal(ids[0], 0); // what comes out is the index, as ever
  assert_int_equal(ids[1], 1);
  assert_int_equal(ids[2], 0);
  assert_int_equal(v.impl().user_id(0), 77); // the last one that was given
  assert_int_equal(v.impl().user_id(1), 0);
  assert_int_equal(v.impl().user_id(FI_ADDR_NOTAVAIL), FI_ADDR_NOTAVAIL);
  assert_int_equal(fi_av_insertsvc(v.av, "10.0.0.3", "9", ids, 0, nullptr), 1);
  assert_int_equal(v.impl().user_id(ids[0]), ids[0]); // none was given
  ids[0] = high;
  assert_int_equal(fi_av_insertsvc(v.av, "10.0.0.3", "9", ids, FI_AV_USER_ID, nullptr), 1);
  assert_int_equal(v.impl().user_id(2), high);

  fi_addr_t first = 0;
  assert_int_equal(fi_av_remove(v.av, &first, 1, 0), 0);
  assert_int_equal(v.impl().user_id(0), 77); // inserted twice
  assert_int_equal(fi_av_remove(v.av, &first, 1, 0), 0);
  assert_int_equal(fi_av_insert(v.av, a, 1, &first, 0, nullptr), 1);
  assert_int_equal(first, 0);
  assert_int_equal(v.impl().user_id(0), 0);
}

void insert__takes_the_domains_format(void **) {
  {
    fake::Domain domain(FI_THREAD_SAFE, FI_PROGRESS_MANUAL, FI_VERSION(1, 17), FI_SOCKADDR_IN6);
    Vector v(domain);
    sockaddr_in6 a[2] = {v6("fe80::1", 1), {}};
    const sockaddr_in in = v4("10.0.0.1", 2);
    std::memcpy(&a[1], &in, sizeof in);
    assert_int_equal(fi_av_insert(v.av, a, 2, nullptr, 0, nullptr), 2);
    assert_true(holds(v, 0, "fi_sockaddr_in6://[fe80::1]:1"));
    assert_true(holds(v, 1, "fi_sockaddr_in://10.0.0.1:2"));
  }
  {
    fake::Domain domain(FI_THREAD_SAFE, FI_PROGRESS_MANUAL, FI_VERSION(1, 17), FI_SOCKADDR_IN);
    Vector v(domain);
    sockaddr_in wrong[2] = {{}, v4("10.0.0.1", 1)};
    wrong[0].sin_family = AF_INET6; // can't be: there is no room for one
    assert_int_equal(fi_av_insert(v.av, wrong, 2, nullptr, 0, nullptr), 1);
    assert_true(holds(v, 0, "fi_sockaddr_in://10.0.0.1:1"));
  }
  {
    fake::Domain domain; // FI_SOCKADDR: as long as each family is
    Vector v(domain);
    char mixed[sizeof(sockaddr_in6) + sizeof(sockaddr_in)];
    const sockaddr_in6 in6 = v6("fe80::1", 1);
    const sockaddr_in in = v4("10.0.0.1", 2);
    std::memcpy(mixed, &in6, sizeof in6);
    std::memcpy(mixed + sizeof in6, &in, sizeof in);
    assert_int_equal(fi_av_insert(v.av, mixed, 2, nullptr, 0, nullptr), 2);
    assert_true(holds(v, 1, "fi_sockaddr_in://10.0.0.1:2"));
  }
  {
    fake::Domain domain(FI_THREAD_SAFE, FI_PROGRESS_MANUAL, FI_VERSION(1, 17), FI_ADDR_STR);
    Vector v(domain);
    const char *texts[] = {"fi_sockaddr_in://10.0.0.1:1", "nonsense://", nullptr};
    assert_int_equal(fi_av_insert(v.av, texts, 3, nullptr, 0, nullptr), 1);
    char text[64];
    std::size_t len = sizeof text;
    assert_int_equal(fi_av_lookup(v.av, 0, text, &len), 0);
    assert_string_equal(text, texts[0]);
    assert_int_equal(len, std::strlen(text) + 1);
    len = sizeof text;
    assert_string_equal(fi_av_straddr(v.av, "fi_sockaddr_in://10.0.0.9:1", text, &len),
                        "fi_sockaddr_in://10.0.0.9:1");
  }
  fake::take_log();
}

void insertsvc__takes_names_and_numbers(void **) {
  fake::Domain domain;
  Vector v(domain);
  fi_addr_t index;
  assert_int_equal(fi_av_insertsvc(v.av, "10.0.0.1", "4000", &index, 0, nullptr), 1);
  assert_true(holds(v, index, "fi_sockaddr_in://10.0.0.1:4000"));
  assert_int_equal(
      fi_av_insertsvc(v.av, "fi_sockaddr_in://10.0.0.2:1", nullptr, &index, 0, nullptr), 1);
  assert_true(holds(v, index, "fi_sockaddr_in://10.0.0.2:1"));
  assert_int_equal(fi_av_insertsvc(v.av, "10.0.0.1", "no such", &index, 0, nullptr), 0);
  assert_true(index == FI_ADDR_NOTAVAIL);
  fake::take_log();
}

void insert__of_more_than_an_int_counts_is_refused(void **) {
  fake::Domain domain;
  Vector v(domain);
  const sockaddr_in a = v4("10.1.1.1", 5000);
  constexpr std::size_t many = std::size_t{1} << 31, wraps = std::size_t{1} << 63;
  assert_int_equal(fi_av_insert(v.av, &a, many, nullptr, 0, nullptr), -FI_EINVAL);
  for (const std::size_t n : {many, wraps})
    assert_int_equal(fi_av_insertsym(v.av, "10.1.1.1", n, "5000", 2, nullptr, 0, nullptr),
                     -FI_EINVAL);
}

void insertsym__counts_services_then_nodes(void **) {
  fake::Domain domain;
  Vector v(domain);
  fi_addr_t index[4];
  assert_int_equal(fi_av_insertsym(v.av, "10.1.1.1", 2, "5000", 2, index, 0, nullptr), 4);
  assert_true(holds(v, index[0], "fi_sockaddr_in://10.1.1.1:5000"));
  assert_true(holds(v, index[1], "fi_sockaddr_in://10.1.1.1:5001"));
  assert_true(holds(v, index[2], "fi_sockaddr_in://10.1.1.2:5000"));
  assert_true(holds(v, index[3], "fi_sockaddr_in://10.1.1.2:5001"));
  assert_int_equal(fi_av_insertsym(v.av, "10.1.1.1", 1, "65535", 2, index, 0, nullptr), 1);
  assert_true(index[1] == FI_ADDR_NOTAVAIL); // no such port
  assert_int_equal(fi_av_insertsym(v.av, "255.255.255.255", 2, "1", 1, index, 0, nullptr), 1);
  assert_int_equal(fi_av_insertsym(v.av, "localhost", 2, "1", 1, index, 0, nullptr), 1);
  assert_true(index[1] == FI_ADDR_NOTAVAIL); // no number to count on
  assert_int_equal(fi_av_insertsym(v.av, nullptr, 2, "1", 1, index, 0, nullptr), -FI_EINVAL);
  fake::take_log();
}

// ---- asynchronous

void insert__with_events_reports_to_the_eq(void **) {
  fake::Fabric fabric;
  fake::Domain domain;
  fid_eq *eq;
  fi_eq_attr eq_attr{};
  assert_int_equal(util_ext::Eq::open(fabric, &eq_attr, &eq, nullptr), 0);
  {
    Vector v(domain, FI_EVENT);
    int op = 0;
    const sockaddr_in a[] = {v4("10.0.0.1", 1), {}, v4("10.0.0.2", 1)};
    fi_addr_t index[3];
    assert_int_equal(fi_av_insert(v.av, a, 3, index, 0, &op), -FI_ENOEQ);
    assert_int_equal(fi_av_bind(v.av, &v.av->fid, 0), -FI_EINVAL);
    assert_int_equal(fi_av_bind(v.av, &eq->fid, 1), -FI_EINVAL);
    assert_int_equal(fi_av_bind(v.av, &eq->fid, 0), 0);
    assert_int_equal(fi_av_bind(v.av, &eq->fid, 0), -FI_EINVAL);
    assert_int_equal(fi_close(&eq->fid), -FI_EBUSY);
    int errors[3];
    assert_int_equal(fi_av_insert(v.av, a, 3, index, FI_SYNC_ERR, errors), -FI_EINVAL);

    assert_int_equal(fi_av_insert(v.av, a, 3, index, 0, &op), 0);
    fi_eq_entry e{};
    fi_eq_err_entry err{};
    std::uint32_t event;
    assert_int_equal(fi_eq_read(eq, &event, &e, sizeof e, 0), -FI_EAVAIL);
    assert_int_equal(fi_eq_readerr(eq, &err, 0), sizeof err);
    assert_true(err.fid == &v.av->fid && err.context == &op && err.data == 1 &&
                err.err == FI_EINVAL);
    assert_int_equal(fi_eq_read(eq, &event, &e, sizeof e, 0), sizeof e);
    assert_int_equal(event, FI_AV_COMPLETE);
    assert_true(e.fid == &v.av->fid && e.context == &op && e.data == 2);
    assert_true(index[0] == 0 && index[1] == FI_ADDR_NOTAVAIL && index[2] == 1);

    assert_int_equal(fi_av_insert(v.av, a, 0, index, 0, &op), 0);
    assert_int_equal(fi_eq_read(eq, &event, &e, sizeof e, 0), sizeof e);
    assert_int_equal(e.data, 0);
  }
  assert_int_equal(fi_close(&eq->fid), 0);
  fake::take_log();
}

// ---- remove, lookup, straddr

void remove__frees_after_the_last_reference(void **) {
  fake::Domain domain;
  Vector v(domain);
  const sockaddr_in a = v4("10.0.0.1", 1), b = v4("10.0.0.2", 1);
  fi_addr_t index;
  fi_av_insert(v.av, &a, 1, &index, 0, nullptr);
  fi_av_insert(v.av, &a, 1, &index, 0, nullptr);
  assert_int_equal(fi_av_remove(v.av, &index, 1, 0), 0);
  assert_non_null(v.impl().lookup(index));
  assert_int_equal(fi_av_remove(v.av, &index, 1, 0), 0);
  assert_null(v.impl().lookup(index));
  assert_int_equal(fi_av_remove(v.av, &index, 1, 0), -FI_EINVAL);
  assert_int_equal(fi_av_remove(v.av, &index, 1, FI_MORE), -FI_EINVAL);
  fi_av_insert(v.av, &b, 1, &index, 0, nullptr);
  assert_int_equal(index, 0);
  fake::take_log();
}

void lookup__cuts_off_and_tells_the_size(void **) {
  fake::Domain domain;
  Vector v(domain);
  const sockaddr_in a = v4("10.0.0.1", 1);
  fi_av_insert(v.av, &a, 1, nullptr, 0, nullptr);
  sockaddr_in out{};
  std::size_t len = sizeof out;
  assert_int_equal(fi_av_lookup(v.av, 0, &out, &len), 0);
  assert_int_equal(len, sizeof out);
  assert_memory_equal(&out, &a, sizeof a);
  char small[5] = "....";
  len = 4;
  assert_int_equal(fi_av_lookup(v.av, 0, small, &len), 0);
  assert_int_equal(len, sizeof out);
  assert_memory_equal(small, &a, 4);
  assert_int_equal(small[4], 0);
  len = 0;
  assert_int_equal(fi_av_lookup(v.av, 0, nullptr, &len), 0);
  assert_int_equal(len, sizeof out);
  assert_int_equal(fi_av_lookup(v.av, 1, &out, &len), -FI_EINVAL);
  assert_int_equal(fi_av_lookup(v.av, FI_ADDR_NOTAVAIL, &out, &len), -FI_EINVAL);
}

void straddr__cuts_off_and_tells_the_size(void **) {
  fake::Domain domain;
  Vector v(domain);
  const sockaddr_in a = v4("10.0.0.1", 4000);
  char text[64], small[8];
  std::size_t len = sizeof text;
  assert_ptr_equal(fi_av_straddr(v.av, &a, text, &len), text);
  assert_string_equal(text, "fi_sockaddr_in://10.0.0.1:4000");
  assert_int_equal(len, 31);
  len = sizeof small;
  assert_string_equal(fi_av_straddr(v.av, &a, small, &len), "fi_sock");
  assert_int_equal(len, 31);
  const sockaddr_in none{};
  assert_null(fi_av_straddr(v.av, &none, text, &len));
}

void reverse__finds_what_was_inserted(void **) {
  fake::Domain domain;
  Vector v(domain);
  const sockaddr_in a = v4("10.0.0.1", 1);
  SockAddr s{};
  s.in = a;
  assert_true(v.impl().reverse(s) == FI_ADDR_NOTAVAIL);
  fi_av_insert(v.av, &a, 1, nullptr, 0, nullptr);
  assert_int_equal(v.impl().reverse(s), 0);
}

// ---- listeners

struct Listener final : util_ext::AvListener {
  explicit Listener(Av &av) : av(av) {}
  ~Listener() = default;
  void address_added(fi_addr_t i, const SockAddr &a) override {
    assert_true(av.reverse(a) == i);
    said += "+" + std::to_string(i);
  }
  void address_removed(fi_addr_t i, const SockAddr &a) override {
    assert_true(av.reverse(a) == FI_ADDR_NOTAVAIL);
    said += "-" + std::to_string(i);
  }
  Av &av;
  std::string said;
};

void listener__is_told_once_of_each_change(void **) {
  fake::Domain domain;
  Vector v(domain);
  Listener l(v.impl());
  v.impl().add_listener(l);
  assert_int_equal(fi_close(&v.av->fid), -FI_EBUSY);
  const sockaddr_in a[] = {v4("10.0.0.1", 1), v4("10.0.0.2", 1)};
  fi_addr_t index[2];
  fi_av_insert(v.av, a, 2, index, 0, nullptr);
  fi_av_insert(v.av, a, 1, index, 0, nullptr);
  fi_av_remove(v.av, index, 2, 0);
  fi_av_remove(v.av, index, 1, 0);
  assert_string_equal(l.said.c_str(), "+0+1-1-0");
  v.impl().remove_listener(l);
  fi_av_insert(v.av, a, 2, index, 0, nullptr);
  assert_string_equal(l.said.c_str(), "+0+1-1-0");
}

void threads__insert_and_remove(void **) {
  fake::Domain domain;
  Vector v(domain);
  std::vector<std::thread> threads;
  std::atomic<int> faults{0};
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (std::uint16_t i = 1; i < 2000; ++i) {
        const sockaddr_in own = v4(t == 0 ? "10.0.0.1" : t == 1 ? "10.0.0.2" : "10.0.0.3", i);
        const sockaddr_in shared = v4("10.0.0.9", static_cast<std::uint16_t>(i % 7 + 1));
        fi_addr_t index[2];
        faults += fi_av_insert(v.av, &own, 1, &index[0], 0, nullptr) != 1;
        faults += fi_av_insert(v.av, &shared, 1, &index[1], 0, nullptr) != 1;
        SockAddr s{};
        s.in = own;
        faults += v.impl().reverse(s) != index[0];
        s.in = shared;
        faults += v.impl().reverse(s) != index[1];
        faults += fi_av_remove(v.av, index, 2, 0) != 0;
      }
    });
  for (auto &t : threads)
    t.join();
  assert_int_equal(faults.load(), 0);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(open__refuses_what_it_cannot_do_and_says_so),
    cmocka_unit_test(open__chooses_a_type_and_takes_hints),
    cmocka_unit_test(insert__gives_indices_in_order),
    cmocka_unit_test(insert__counts_what_succeeded),
    cmocka_unit_test(insert__refuses_flags_that_it_does_not_know),
    cmocka_unit_test(user_id__goes_with_an_index_until_it_is_free),
    cmocka_unit_test(insert__takes_the_domains_format),
    cmocka_unit_test(insertsvc__takes_names_and_numbers),
    cmocka_unit_test(insertsym__counts_services_then_nodes),
    cmocka_unit_test(insert__with_events_reports_to_the_eq),
    cmocka_unit_test(remove__frees_after_the_last_reference),
    cmocka_unit_test(lookup__cuts_off_and_tells_the_size),
    cmocka_unit_test(straddr__cuts_off_and_tells_the_size),
    cmocka_unit_test(insert__of_more_than_an_int_counts_is_refused),
    cmocka_unit_test(reverse__finds_what_was_inserted),
    cmocka_unit_test(listener__is_told_once_of_each_change),
    cmocka_unit_test(threads__insert_and_remove),
};
static const unit::Group group{"av", cases};

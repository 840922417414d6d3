// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Address vectors (fi_av(3)) with made-up peers that nothing is sent to.
#include "common/address.h"
#include "common/case.h"
#include "common/endpoint.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <set>

#include <sched.h>

namespace fabtest {

namespace {

// An AV of a provider whose addresses are socket addresses, and a host to make up peers on.
struct lone_av {
  fabric_and_domain base;
  owned_fid<fid_av> av;
  bytes own;

  explicit lone_av(fi_av_type type, std::uint64_t flags = 0) : base(find_info({.av_type = type})) {
    if (!is_socket_format(base.info->addr_format))
      skip("addresses are not socket addresses");
    fi_av_attr attr{};
    attr.type = type;
    attr.flags = flags;
    CHECK_OK(fi_av_open(*base, &attr, av.out(), this));
    CHECK_EQ(attr.type, type);
    const auto *p = static_cast<const std::byte *>(base.info->src_addr);
    own = p ? bytes(p, p + base.info->src_addrlen) : socket_address("127.0.0.1", 1);
  }

  [[nodiscard]] bool is_ipv6() const { return family_of(own) == AF_INET6; }
  [[nodiscard]] bytes peer(std::size_t n) const {
    return with_port(own, static_cast<std::uint16_t>(20'000 + n));
  }
  [[nodiscard]] bytes peers(std::size_t count, std::size_t first = 0) const {
    bytes all;
    for (std::size_t i = 0; i < count; ++i)
      std::ranges::copy(peer(first + i), std::back_inserter(all));
    return all;
  }
  [[nodiscard]] bytes lookup(fi_addr_t address) const {
    bytes found(own.size());
    std::size_t size = found.size();
    CHECK_OK(fi_av_lookup(av.get(), address, found.data(), &size));
    CHECK_EQ(size, own.size());
    return found;
  }
};

void spoil(bytes &addresses, std::size_t index, std::size_t each) {
  const sa_family_t wrong = 0x7f;
  std::memcpy(addresses.data() + index * each, &wrong, sizeof wrong);
}

} // namespace

CASE(table, .ranks = 1) {
  const lone_av a(FI_AV_TABLE);
  std::array<fi_addr_t, 10> got{};
  CHECK_CODE(10, fi_av_insert(a.av.get(), a.peers(10).data(), 10, got.data(), 0, nullptr));
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK_EQ(got[i], i);
    CHECK(a.lookup(got[i]) == a.peer(i));
  }
  // Without an array the indices go on.
  CHECK_CODE(3, fi_av_insert(a.av.get(), a.peers(3, 10).data(), 3, nullptr, 0, nullptr));
  CHECK(a.lookup(12) == a.peer(12));
}

CASE(map, .ranks = 1) {
  const lone_av a(FI_AV_MAP);
  std::array<fi_addr_t, 50> got{};
  CHECK_CODE(50, fi_av_insert(a.av.get(), a.peers(50).data(), 50, got.data(), FI_MORE, nullptr));
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(a.lookup(got[i]) == a.peer(i));
  CHECK_EQ(std::set<fi_addr_t>(got.begin(), got.end()).size(), got.size());
  CHECK(std::ranges::count(got, FI_ADDR_NOTAVAIL) == 0);
}

CASE(unspecified_type, .ranks = 1) {
  fabric_and_domain base(find_info({.av_type = FI_AV_UNSPEC}));
  owned_fid<fid_av> av;
  fi_av_attr attr{};
  CHECK_OK(fi_av_open(*base, &attr, av.out(), nullptr));
  CHECK(attr.type == FI_AV_MAP || attr.type == FI_AV_TABLE);
}

// Where the domain has only one of them, that is what one gets.
CASE(unspecified_type_of_a_domain_with_one, .ranks = 1) {
  for (const auto type : {FI_AV_TABLE, FI_AV_MAP}) {
    fabric_and_domain base(find_info({.av_type = type}));
    owned_fid<fid_av> av;
    fi_av_attr attr{};
    CHECK_OK(fi_av_open(*base, &attr, av.out(), nullptr));
    CHECK_EQ(attr.type, base.info->domain_attr->av_type);
  }
}

CASE(none_inserted, .ranks = 1) {
  const lone_av a(FI_AV_TABLE);
  CHECK_CODE(0, fi_av_insert(a.av.get(), a.peers(1).data(), 0, nullptr, 0, nullptr));
}

// The lowest unused index is taken again (fi_av(3)).
CASE(removed_index_is_reused, .ranks = 1) {
  const lone_av a(FI_AV_TABLE);
  std::array<fi_addr_t, 8> got{};
  CHECK_CODE(8, fi_av_insert(a.av.get(), a.peers(8).data(), 8, got.data(), 0, nullptr));
  fi_addr_t gone[] = {5, 2};
  CHECK_OK(fi_av_remove(a.av.get(), gone, 2, 0));
  fi_addr_t again[3] = {};
  CHECK_CODE(3, fi_av_insert(a.av.get(), a.peers(3, 100).data(), 3, again, 0, nullptr));
  CHECK_EQ(again[0], 2u);
  CHECK_EQ(again[1], 5u);
  CHECK_EQ(again[2], 8u);
  CHECK(a.lookup(2) == a.peer(100));
  CHECK(a.lookup(3) == a.peer(3));
}

// A removed address is invalid until it is returned again.
CASE(removed_is_not_found, .ranks = 1) {
  const lone_av a(FI_AV_TABLE);
  fi_addr_t got = FI_ADDR_NOTAVAIL;
  CHECK_CODE(1, fi_av_insert(a.av.get(), a.peer(1).data(), 1, &got, 0, nullptr));
  CHECK_OK(fi_av_remove(a.av.get(), &got, 1, 0));
  bytes found(a.own.size());
  std::size_t size = found.size();
  CHECK(fi_av_lookup(a.av.get(), got, found.data(), &size) < 0);
}

// "Providers are required to support the removal, followed by the re-insertion of an address."
CASE(removed_and_inserted_again, .ranks = 1) {
  for (const auto type : {FI_AV_TABLE, FI_AV_MAP}) {
    const lone_av a(type);
    for (int i = 0; i < 100; ++i) {
      fi_addr_t got = FI_ADDR_NOTAVAIL;
      CHECK_CODE(1, fi_av_insert(a.av.get(), a.peer(1).data(), 1, &got, 0, nullptr));
      CHECK(a.lookup(got) == a.peer(1));
      CHECK_OK(fi_av_remove(a.av.get(), &got, 1, 0));
    }
  }
}

// What a second insertion of an address means is the provider's to say; nothing breaks by it.
CASE(duplicate, .ranks = 1) {
  for (const auto type : {FI_AV_TABLE, FI_AV_MAP}) {
    const lone_av a(type);
    fi_addr_t first = FI_ADDR_NOTAVAIL, second = FI_ADDR_NOTAVAIL;
    CHECK_CODE(1, fi_av_insert(a.av.get(), a.peer(1).data(), 1, &first, 0, nullptr));
    const int rc = fi_av_insert(a.av.get(), a.peer(1).data(), 1, &second, 0, nullptr);
    CHECK(rc == 0 || rc == 1);
    CHECK((rc == 0) == (second == FI_ADDR_NOTAVAIL));
    CHECK(a.lookup(first) == a.peer(1));
    if (rc == 1)
      CHECK(a.lookup(second) == a.peer(1));
  }
}

CASE(lookup_in_a_small_buffer, .ranks = 1) {
  const lone_av a(FI_AV_TABLE);
  CHECK_CODE(1, fi_av_insert(a.av.get(), a.peer(1).data(), 1, nullptr, 0, nullptr));
  for (std::size_t room = 0; room < a.own.size(); ++room) {
    bytes found(a.own.size(), std::byte{0x5a});
    std::size_t size = room;
    fi_av_lookup(a.av.get(), 0, found.data(), &size);
    CHECK_EQ(size, a.own.size());
    for (std::size_t i = room; i < found.size(); ++i)
      CHECK(found[i] == std::byte{0x5a});
    CHECK(std::equal(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(room),
                     a.peer(1).begin()));
  }
}

CASE(lookup_of_nothing, .ranks = 1) {
  const lone_av a(FI_AV_TABLE);
  bytes found(a.own.size());
  for (const fi_addr_t address : {fi_addr_t{0}, fi_addr_t{12345}, fi_addr_t{FI_ADDR_NOTAVAIL}}) {
    std::size_t size = found.size();
    CHECK(fi_av_lookup(a.av.get(), address, found.data(), &size) < 0);
  }
}

CASE(straddr, .ranks = 1) {
  const lone_av a(FI_AV_TABLE);
  const bytes peer = a.peer(7); // needs not be inserted
  char text[256] = "";
  std::size_t size = sizeof text;
  CHECK(fi_av_straddr(a.av.get(), peer.data(), text, &size) == text);
  CHECK_EQ(size, std::strlen(text) + 1);
  CHECK(std::strstr(text, "20007") != nullptr);
  CHECK(std::strstr(text, host_of(peer).c_str()) != nullptr);
  char small[16];
  std::memset(small, 'x', sizeof small);
  std::size_t needed = 8;
  fi_av_straddr(a.av.get(), peer.data(), small, &needed);
  CHECK_EQ(needed, size);
  CHECK(std::count(small + 8, small + 16, 'x') == 8);
  CHECK(std::strncmp(small, text, 7) == 0);
}

CASE(by_name_and_service, .ranks = 1) {
  const lone_av a(FI_AV_TABLE);
  const std::string host = host_of(a.own);
  fi_addr_t got = FI_ADDR_NOTAVAIL;
  CHECK_CODE(1, fi_av_insertsvc(a.av.get(), host.c_str(), "20031", &got, 0, nullptr));
  CHECK(a.lookup(got) == a.peer(31));
}

// "Applications may also pass in an FI_ADDR_STR formatted address as the node parameter. In such
// cases, the service parameter must be NULL."
CASE(by_text_as_node, .ranks = 1) {
  const lone_av a(FI_AV_TABLE);
  const std::string node = a.is_ipv6() ? fmt::format("fi_sockaddr_in6://[{}]:20031", host_of(a.own))
                                       : fmt::format("fi_sockaddr_in://{}:20031", host_of(a.own));
  fi_addr_t got = FI_ADDR_NOTAVAIL;
  CHECK_CODE(1, fi_av_insertsvc(a.av.get(), node.c_str(), nullptr, &got, 0, nullptr));
  CHECK(a.lookup(got) == a.peer(31));
  CHECK(fi_av_insertsvc(a.av.get(), node.c_str(), "20032", &got, 0, nullptr) <= 0);
}

CASE(by_unknown_name, .ranks = 1) {
  const lone_av a(FI_AV_TABLE);
  fi_addr_t got = 0;
  CHECK(fi_av_insertsvc(a.av.get(), "no-such-host.invalid", "20031", &got, 0, nullptr) <= 0);
}

// All services of a node, then the next node.
CASE(symmetric, .ranks = 1) {
  const lone_av a(FI_AV_TABLE);
  const std::string net = a.is_ipv6() ? "fd00:1::" : "10.1.1.";
  const std::string hosts[] = {net + "1", net + "2"};
  fi_addr_t got[6] = {};
  CHECK_CODE(6, fi_av_insertsym(a.av.get(), hosts[0].c_str(), 2, "5000", 3, got, 0, nullptr));
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(a.lookup(got[i]) ==
          socket_address(hosts[i / 3], static_cast<std::uint16_t>(5000 + i % 3)));
}

// Bad addresses among good ones: the count is that of the good ones, the others are marked.
CASE(failures_among_good_ones, .ranks = 1) {
  for (const auto type : {FI_AV_TABLE, FI_AV_MAP}) {
    const lone_av a(type);
    bytes all = a.peers(6);
    spoil(all, 1, a.own.size());
    spoil(all, 4, a.own.size());
    std::array<fi_addr_t, 6> got{};
    CHECK_CODE(4, fi_av_insert(a.av.get(), all.data(), 6, got.data(), 0, nullptr));
    for (const std::size_t i : {1, 4})
      CHECK_EQ(got[i], static_cast<fi_addr_t>(FI_ADDR_NOTAVAIL));
    for (const std::size_t i : {0, 2, 3, 5})
      CHECK(a.lookup(got[i]) == a.peer(i));
  }
}

CASE(errors_of_each, .ranks = 1) {
  const lone_av a(FI_AV_TABLE);
  bytes all = a.peers(5);
  spoil(all, 2, a.own.size());
  std::array<fi_addr_t, 5> got{};
  std::array<int, 5> errors{};
  errors.fill(-1);
  CHECK_CODE(4, fi_av_insert(a.av.get(), all.data(), 5, got.data(), FI_SYNC_ERR, errors.data()));
  for (std::size_t i = 0; i < errors.size(); ++i)
    CHECK((errors[i] != 0) == (i == 2));
  CHECK_EQ(got[2], static_cast<fi_addr_t>(FI_ADDR_NOTAVAIL));
}

CASE(many, .ranks = 1) {
  const lone_av a(FI_AV_TABLE);
  constexpr std::size_t count = 30'000;
  std::vector<fi_addr_t> got(count);
  CHECK_CODE(static_cast<long>(count),
             fi_av_insert(a.av.get(), a.peers(count).data(), count, got.data(), 0, nullptr));
  for (std::size_t i = 0; i < count; i += 7)
    CHECK(a.lookup(got[i]) == a.peer(i));
}

CASE(events, .ranks = 1) {
  lone_av a(FI_AV_TABLE, FI_EVENT);
  int context = 0;
  std::array<fi_addr_t, 4> got{};
  bytes all = a.peers(4);
  CHECK_CODE(-FI_ENOEQ, fi_av_insert(a.av.get(), all.data(), 4, got.data(), 0, &context));
  owned_fid<fid_eq> eq;
  fi_eq_attr attr{};
  CHECK_OK(fi_eq_open(a.base.fabric.get(), &attr, eq.out(), nullptr));
  CHECK_OK(fi_av_bind(a.av.get(), &eq->fid, 0));
  spoil(all, 1, a.own.size());
  CHECK_CODE(0, fi_av_insert(a.av.get(), all.data(), 4, got.data(), 0, &context));

  fi_eq_entry entry{};
  std::uint32_t event = 0;
  int errors = 0;
  ssize_t rc = 0;
  const auto end = std::chrono::steady_clock::now() + default_wait();
  while ((rc = fi_eq_read(eq.get(), &event, &entry, sizeof entry, 0)) < 0) {
    CHECK(std::chrono::steady_clock::now() < end);
    if (rc == -FI_EAVAIL) {
      fi_eq_err_entry error{};
      CHECK(fi_eq_readerr(eq.get(), &error, 0) > 0);
      CHECK(error.fid == &a.av->fid);
      CHECK(error.context == &context);
      CHECK_EQ(error.data, 1u); // the index of the bad one
      CHECK(error.err > 0);
      ++errors;
    } else {
      CHECK_EQ(rc, static_cast<ssize_t>(-FI_EAGAIN));
      sched_yield();
    }
  }
  CHECK_EQ(errors, 1);
  CHECK_EQ(event, static_cast<std::uint32_t>(FI_AV_COMPLETE));
  CHECK(entry.fid == &a.av->fid);
  CHECK(entry.context == &context);
  CHECK_EQ(entry.data, 3u);
  CHECK_EQ(got[1], static_cast<fi_addr_t>(FI_ADDR_NOTAVAIL));
  CHECK(a.lookup(got[3]) == a.peer(3));
  a.av.close();
}

// Closing leaves what has been reported where it is (fi_av(3)).
CASE(events_of_a_closed_av, .ranks = 1) {
  lone_av a(FI_AV_TABLE, FI_EVENT);
  owned_fid<fid_eq> eq;
  fi_eq_attr attr{};
  CHECK_OK(fi_eq_open(a.base.fabric.get(), &attr, eq.out(), nullptr));
  CHECK_OK(fi_av_bind(a.av.get(), &eq->fid, 0));
  int context = 0;
  CHECK_CODE(0, fi_av_insert(a.av.get(), a.peers(4).data(), 4, nullptr, 0, &context));
  const fid_t closed = &a.av->fid;
  a.av.close();
  fi_eq_entry entry{};
  std::uint32_t event = 0;
  CHECK_CODE(static_cast<long>(sizeof entry),
             fi_eq_read(eq.get(), &event, &entry, sizeof entry, 0));
  CHECK(entry.fid == closed);
  CHECK(entry.context == &context);
  CHECK_EQ(entry.data, 4u);
}

// A named AV that must exist and doesn't: MPICH tries that and goes on without.
CASE(named_and_absent, .ranks = 1) {
  fabric_and_domain base(find_info({}));
  owned_fid<fid_av> av;
  fi_av_attr attr{};
  attr.type = FI_AV_TABLE;
  attr.name = "FI_NAMED_AV_0";
  attr.flags = FI_READ;
  CHECK(fi_av_open(*base, &attr, av.out(), nullptr) < 0);
}

// Text addresses, where the provider has them: an array of strings.
CASE(text_addresses, .ranks = 1) {
  const info_ptr hints = make_hints({});
  hints->addr_format = FI_ADDR_STR;
  info_ptr list;
  if (get_info(hints.get(), {}, list) != 0)
    skip("the provider has no text addresses");
  fabric_and_domain base(info_ptr(fi_dupinfo(list.get())));
  owned_fid<fid_av> av;
  fi_av_attr attr{};
  attr.type = FI_AV_TABLE;
  CHECK_OK(fi_av_open(*base, &attr, av.out(), nullptr));
  const char *texts[] = {"fi_sockaddr_in://127.0.0.1:20001", "not an address",
                         "fi_sockaddr_in://127.0.0.1:20002"};
  if (base.info->src_addr &&
      std::strncmp(static_cast<char *>(base.info->src_addr), "fi_shm", 6) == 0)
    skip("text of another kind");
  fi_addr_t got[3] = {};
  CHECK_CODE(2, fi_av_insert(av.get(), texts, 3, got, 0, nullptr));
  CHECK_EQ(got[1], static_cast<fi_addr_t>(FI_ADDR_NOTAVAIL));
  char found[100] = "";
  std::size_t size = sizeof found;
  CHECK_OK(fi_av_lookup(av.get(), got[2], found, &size));
  CHECK(std::strcmp(found, texts[2]) == 0);
}

} // namespace fabtest

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Address vectors: fi_av(3). FI_AV_TABLE and FI_AV_MAP alike hand out dense
// indices. The same address inserted again gives the same fi_addr_t and counts
// a reference; it is gone after as many removals. Indices are reused, lowest
// first. Lookups are lock-free against inserts.
#pragma once

#include "util_ext/address.h"
#include "util_ext/address_table.h"
#include "util_ext/domain.h"
#include "util_ext/eq.h"
#include "util_ext/user_ids.h"

#include <mutex>
#include <vector>

namespace util_ext {

// Told of changes, in their order: endpoints bind as listeners. The calls may
// look up addresses, but not change the AV, nor add or remove listeners; and
// whoever adds or removes one must not hold a lock that these calls take.
class AvListener {
public:
  virtual void address_added(fi_addr_t, const SockAddr &) = 0;
  virtual void address_removed(fi_addr_t, const SockAddr &) = 0; // before the index is reused
protected:
  ~AvListener() = default;
};

class Av final : public Object<Av, fid_av> {
public:
  // Writes the type back where the caller leaves it open.
  static int open(Domain &, fi_av_attr *, fid_av **, void *context) noexcept;

  // The address of an index, or null. Valid until it is removed. Any thread.
  const SockAddr *lookup(fi_addr_t a) const noexcept { return table_.lookup(a); }
  // The index of an address, or FI_ADDR_NOTAVAIL. Any thread.
  fi_addr_t reverse(const SockAddr &a) const noexcept {
    const AddressTable::Index i = table_.reverse(a);
    return i == AddressTable::none ? FI_ADDR_NOTAVAIL : i;
  }
  // What completions call the sender of an index: FI_AV_USER_ID, or the index. Any thread.
  fi_addr_t user_id(fi_addr_t a) const noexcept { return user_ids_.get(a); }
  const Domain &domain() const { return *domain_; }
  // One beyond the highest index that was ever in use.
  std::size_t high_water() const noexcept { return table_.high_water(); }

  // A listener holds the AV open: close answers -FI_EBUSY. After
  // remove_listener() has returned it is not called any more.
  void add_listener(AvListener &);
  void remove_listener(AvListener &) noexcept;

private:
  friend Object;
  class Insertion;

  Av(Domain &, const fi_av_attr &, void *context);
  ~Av() = default;
  static int bind(struct fid *, struct fid *, std::uint64_t flags) noexcept;
  static int insert(fid_av *, const void *addr, std::size_t count, fi_addr_t *, std::uint64_t flags,
                    void *context) noexcept;
  static int insertsvc(fid_av *, const char *node, const char *service, fi_addr_t *,
                       std::uint64_t flags, void *context) noexcept;
  static int insertsym(fid_av *, const char *node, std::size_t nodecnt, const char *service,
                       std::size_t svccnt, fi_addr_t *, std::uint64_t flags,
                       void *context) noexcept;
  static int remove(fid_av *, fi_addr_t *, std::size_t count, std::uint64_t flags) noexcept;
  static int lookup_addr(fid_av *, fi_addr_t, void *addr, std::size_t *addrlen) noexcept;
  static const char *straddr(fid_av *, const void *addr, char *buf, std::size_t *len) noexcept;

  int family() const; // AF_INET, AF_INET6, or AF_UNSPEC for both
  int check(const SockAddr &) const;
  int next_address(const std::byte *&from, SockAddr &) const;
  int add(const SockAddr &, const fi_addr_t *user_id, fi_addr_t &index);
  template <class Ops> static void set_newer_ops(Ops &);
  static int set_user_id(fid_av *, fi_addr_t, fi_addr_t user_id, std::uint64_t flags) noexcept;
  int remove_one(fi_addr_t) noexcept;

  const Hold<Domain> domain_;
  const bool events_; // inserts report to the EQ
  Hold<Eq> eq_;
  AddressTable table_;
  UserIds user_ids_;
  std::mutex changes_; // serialises changes and what listeners are told
  std::vector<AvListener *> listeners_;
};

} // namespace util_ext

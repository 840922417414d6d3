// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/av.h"

#include "util_ext/ops.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstring>
#include <optional>
#include <string>

namespace util_ext {

// ---- listeners

void Av::add_listener(AvListener &l) {
  std::lock_guard lock(changes_);
  listeners_.push_back(&l);
  acquire();
}

void Av::remove_listener(AvListener &l) noexcept {
  std::lock_guard lock(changes_);
  if (std::erase(listeners_, &l) != 0)
    release();
}

// ---- one address

int Av::family() const {
  switch (domain_->addr_format()) {
  case FI_SOCKADDR_IN:
    return AF_INET;
  case FI_SOCKADDR_IN6:
    return AF_INET6;
  default:
    return AF_UNSPEC;
  }
}

// Whether something can be sent there: not to port 0, nor to 0.0.0.0 or [::].
int Av::check(const SockAddr &a) const {
  static constexpr in6_addr any6 = IN6ADDR_ANY_INIT;
  const bool any = a.sa.sa_family == AF_INET
                       ? a.in.sin_addr.s_addr == htonl(INADDR_ANY)
                       : std::memcmp(&a.in6.sin6_addr, &any6, sizeof any6) == 0;
  return any || port_of(a) == 0 ? -FI_EINVAL : 0;
}

// Reads one address of the domain's format, and steps over it. An address of
// another family is as long as the format's.
int Av::next_address(const std::byte *&from, SockAddr &a) const {
  if (domain_->addr_format() == FI_ADDR_STR) {
    const char *text;
    std::memcpy(&text, from, sizeof text);
    from += sizeof text;
    return from_text(text, a);
  }
  const int wanted = family();
  std::size_t stride = wanted == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (wanted == AF_UNSPEC) {
    sa_family_t has;
    std::memcpy(&has, from, sizeof has);
    stride = has == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  }
  const bool ok = read_sockaddr(from, stride, a);
  from += stride;
  return ok ? 0 : -FI_EINVAL;
}

int Av::add(const SockAddr &a, const fi_addr_t *user_id, fi_addr_t &index) {
  if (int rc = check(a); rc != 0)
    return rc;
  std::lock_guard lock(changes_);
  bool is_new;
  index = table_.insert(a, is_new);
  if (user_id)
    user_ids_.set(index, *user_id);
  if (is_new)
    for (AvListener *l : listeners_)
      l->address_added(index, a);
  return 0;
}

int Av::remove_one(fi_addr_t index) noexcept {
  std::lock_guard lock(changes_);
  const SockAddr *found = table_.lookup(index);
  if (!found)
    return -FI_EINVAL;
  const SockAddr a = *found;
  if (table_.remove(static_cast<AddressTable::Index>(index))) {
    for (AvListener *l : listeners_)
      l->address_removed(index, a);
    user_ids_.reset(index);
  }
  return 0;
}

// ---- inserting

// As many as a call can say that it has inserted.
static constexpr std::size_t max_count = INT_MAX;

// One call of fi_av_insert*: how its addresses are reported.
class Av::Insertion {
public:
  Insertion(Av &av, fi_addr_t *addrs, std::uint64_t flags, void *context)
      : av_(av), addrs_(addrs), context_(context),
        sync_errors_(flags & FI_SYNC_ERR ? static_cast<int *>(context) : nullptr),
        user_ids_(flags & FI_AV_USER_ID ? addrs : nullptr) {}

  static int check(Av &, std::uint64_t flags, const fi_addr_t *addrs, void *context);

  // The next address; `rc` says that it is none.
  void put(int rc, const SockAddr &a) {
    fi_addr_t index = FI_ADDR_NOTAVAIL;
    const bool valid = rc == 0;
    if (valid)
      rc = guard([&] { return av_.add(a, user_ids_ ? user_ids_ + done_ : nullptr, index); });
    if (addrs_)
      addrs_[done_] = index;
    if (sync_errors_)
      sync_errors_[done_] = -rc;
    if (rc != 0)
      fail(rc, valid ? std::optional(a) : std::nullopt);
    ++done_;
  }

  int result() {
    if (failed_ != 0)
      tell();
    const std::size_t good = done_ - failed_;
    if (!av_.events_)
      return static_cast<int>(good);
    const fi_eq_entry entry{&av_.fid, context_, good};
    return av_.eq_->write(FI_AV_COMPLETE, &entry, sizeof entry);
  }

private:
  void tell() const noexcept {
    std::string which;
    (void)guard([&] {
      which = first_address_ ? to_text(*first_address_) : "not of the format of addr_format";
      return 0;
    });
    FI_WARN(&av_.domain_->provider(), FI_LOG_AV,
            "%zu of %zu addresses not inserted; the first is number %zu (%s): %s\n", failed_, done_,
            first_failed_, which.c_str(), fi_strerror(-first_error_));
  }
  void fail(int rc, const std::optional<SockAddr> &address) {
    if (failed_++ == 0) {
      first_failed_ = done_;
      first_address_ = address;
      first_error_ = rc;
    }
    if (av_.events_) {
      EventError e;
      e.fid = &av_.fid;
      e.context = context_;
      e.data = done_;
      e.err = -rc;
      av_.eq_->write_error(e);
    }
  }

  Av &av_;
  fi_addr_t *const addrs_;
  void *const context_;
  int *const sync_errors_;
  const fi_addr_t *const user_ids_; // in the array that takes the indices
  std::size_t done_ = 0, failed_ = 0, first_failed_ = 0;
  int first_error_ = 0;
  std::optional<SockAddr> first_address_; // none: not in the domain's format
};

int Av::Insertion::check(Av &av, std::uint64_t flags, const fi_addr_t *addrs, void *context) {
  const fi_provider &prov = av.domain_->provider();
  if (flags & ~(FI_MORE | FI_SYNC_ERR | FI_AV_USER_ID)) {
    FI_WARN(&prov, FI_LOG_AV,
            "insert flags %#llx: only FI_MORE, FI_SYNC_ERR and FI_AV_USER_ID are supported\n",
            static_cast<unsigned long long>(flags));
    return -FI_EBADFLAGS;
  }
  if (flags & FI_AV_USER_ID && !addrs) {
    FI_WARN(&prov, FI_LOG_AV, "FI_AV_USER_ID needs an array fi_addr, with the ids\n");
    return -FI_EINVAL;
  }
  if (flags & FI_SYNC_ERR && (av.events_ || !context)) {
    FI_WARN(&prov, FI_LOG_AV,
            "FI_SYNC_ERR needs an array of int as context, and an AV without FI_EVENT\n");
    return -FI_EINVAL;
  }
  if (av.events_ && !av.eq_) {
    FI_WARN(&prov, FI_LOG_AV, "the AV was opened with FI_EVENT: bind an EQ to it first\n");
    return -FI_ENOEQ;
  }
  return 0;
}

int Av::insert(fid_av *av, const void *addr, std::size_t count, fi_addr_t *addrs,
               std::uint64_t flags, void *context) noexcept {
  return guard([&] {
    Av &self = *from(&av->fid);
    if ((!addr && count) || count > max_count)
      return -FI_EINVAL;
    if (int rc = Insertion::check(self, flags, addrs, context); rc != 0)
      return rc;
    Insertion insertion(self, addrs, flags, context);
    const auto *next = static_cast<const std::byte *>(addr);
    for (std::size_t i = 0; i < count; ++i) {
      SockAddr a;
      const int rc = guard([&] { return self.next_address(next, a); });
      insertion.put(rc, a);
    }
    return insertion.result();
  });
}

int Av::insertsvc(fid_av *av, const char *node, const char *service, fi_addr_t *addrs,
                  std::uint64_t flags, void *context) noexcept {
  return guard([&] {
    Av &self = *from(&av->fid);
    if (int rc = Insertion::check(self, flags, addrs, context); rc != 0)
      return rc;
    Insertion insertion(self, addrs, flags, context);
    SockAddr a;
    const int rc = guard([&] { return resolve(node, service, self.family(), a); });
    insertion.put(rc, a);
    return insertion.result();
  });
}

// "host09" and 3: "host12"; a name without a number: only itself.
static bool advance_name(std::string &name, std::size_t n) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  if (n == 0)
    return true;
  std::uint64_t number = 0;
  const char *end = name.data() + name.size();
  if (std::from_chars(name.data() + digits, end, number).ec != std::errc())
    return false;
  std::string text = std::to_string(number + n);
  const std::size_t width = name.size() - digits;
  if (text.size() < width)
    text.insert(0, width - text.size(), '0');
  name.replace(digits, width, text);
  return true;
}

int Av::insertsym(fid_av *av, const char *node, std::size_t nodecnt, const char *service,
                  std::size_t svccnt, fi_addr_t *addrs, std::uint64_t flags,
                  void *context) noexcept {
  return guard([&] {
    Av &self = *from(&av->fid);
    std::size_t count;
    if (!node || !service || __builtin_mul_overflow(nodecnt, svccnt, &count) || count > max_count)
      return -FI_EINVAL;
    if (int rc = Insertion::check(self, flags, addrs, context); rc != 0)
      return rc;

    Insertion insertion(self, addrs, flags, context);
    SockAddr first;
    const bool numeric = resolve_numeric(node, service, self.family(), first) == 0;
    for (std::size_t n = 0; n < nodecnt; ++n) {
      SockAddr a = first;
      std::string name(node);
      int rc = 0;
      if (numeric)
        rc = advance_ip(a, n) ? 0 : -FI_EINVAL;
      else
        rc = advance_name(name, n) ? resolve(name.c_str(), service, self.family(), a) : -FI_EINVAL;
      const std::size_t port = rc == 0 ? port_of(a) : 0;
      for (std::size_t s = 0; s < svccnt; ++s) {
        set_port(a, static_cast<std::uint16_t>(port + s));
        insertion.put(rc != 0 ? rc : port + s > 65535 ? -FI_EINVAL : 0, a);
      }
    }
    return insertion.result();
  });
}

// ---- the rest of the C interface

int Av::remove(fid_av *av, fi_addr_t *addrs, std::size_t count, std::uint64_t flags) noexcept {
  Av &self = *from(&av->fid);
  if (flags || (!addrs && count))
    return -FI_EINVAL;
  int result = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const int rc = self.remove_one(addrs[i]);
    if (rc != 0 && result == 0) {
      FI_WARN(&self.domain_->provider(), FI_LOG_AV, "fi_av_remove: no address %#llx in the AV\n",
              static_cast<unsigned long long>(addrs[i]));
      result = rc;
    }
  }
  return result;
}

int Av::lookup_addr(fid_av *av, fi_addr_t index, void *addr, std::size_t *addrlen) noexcept {
  return guard([&] {
    Av &self = *from(&av->fid);
    const SockAddr *a = self.lookup(index);
    if (!a || !addrlen || (!addr && *addrlen))
      return -FI_EINVAL;
    const bool as_text = self.domain_->addr_format() == FI_ADDR_STR;
    const std::string text = as_text ? to_text(*a) : std::string();
    const std::size_t size = as_text ? text.size() + 1 : size_of(*a);
    if (const std::size_t n = std::min(size, *addrlen); n != 0)
      std::memcpy(addr, as_text ? static_cast<const void *>(text.c_str()) : a, n);
    *addrlen = size;
    return 0;
  });
}

const char *Av::straddr(fid_av *av, const void *addr, char *buf, std::size_t *len) noexcept {
  if (!addr || !len)
    return nullptr;
  const int rc = guard([&] {
    Av &self = *from(&av->fid);
    std::string text;
    SockAddr a;
    sa_family_t has;
    std::memcpy(&has, addr, sizeof has);
    if (self.domain_->addr_format() == FI_ADDR_STR)
      text = static_cast<const char *>(addr);
    else if (read_sockaddr(addr, has == AF_INET6 ? sizeof a.in6 : sizeof a.in, a))
      text = to_text(a);
    else
      return -FI_EINVAL;
    if (buf && *len) {
      const std::size_t n = std::min(text.size(), *len - 1);
      std::memcpy(buf, text.data(), n);
      buf[n] = '\0';
    }
    *len = text.size() + 1;
    return 0;
  });
  return rc == 0 ? buf : nullptr;
}

int Av::bind(struct fid *f, struct fid *to, std::uint64_t flags) noexcept {
  Av &self = *from(f);
  if (!to || to->fclass != FI_CLASS_EQ || flags || self.eq_) {
    FI_WARN(&self.domain_->provider(), FI_LOG_AV,
            "fi_av_bind: takes one event queue, without flags\n");
    return -FI_EINVAL;
  }
  self.eq_ = Hold(*Eq::from(to));
  return 0;
}

int Av::set_user_id(fid_av *av, fi_addr_t index, fi_addr_t user_id, std::uint64_t flags) noexcept {
  return guard([&] {
    Av &self = *from(&av->fid);
    const std::lock_guard lock(self.changes_);
    if (flags || !self.lookup(index))
      return -FI_EINVAL;
    self.user_ids_.set(index, user_id);
    return 0;
  });
}

// Where the headers that this is built with know them.
template <class Ops> void Av::set_newer_ops(Ops &ops) {
  if constexpr (requires { ops.set_user_id; })
    ops.set_user_id = set_user_id;
}

Av::Av(Domain &domain, const fi_av_attr &attr, void *context)
    : domain_(domain), events_(attr.flags & FI_EVENT) {
  static fi_ops_av av_ops = [] {
    auto t = all_missing<fi_ops_av>();
    t.insert = insert;
    t.insertsvc = insertsvc;
    t.insertsym = insertsym;
    t.remove = remove;
    t.lookup = lookup_addr;
    t.straddr = straddr;
    set_newer_ops(t);
    return t;
  }();
  fid = {FI_CLASS_AV, context, fid_ops()};
  ops = &av_ops;
  table_.reserve(attr.count);
}

int Av::open(Domain &domain, fi_av_attr *attr, fid_av **out, void *context) noexcept {
  const fi_provider &prov = domain.provider();
  if (!attr || !out)
    return -FI_EINVAL;
  const auto refuse = [&](int rc, const char *why) {
    FI_WARN(&prov, FI_LOG_AV, "fi_av_open: %s\n", why);
    return rc;
  };
  if (attr->name || attr->flags & FI_READ) { // MPICH tries one, and does without
    FI_INFO(&prov, FI_LOG_AV,
            "fi_av_open: shared (named) address vectors are not supported: '%s'\n",
            attr->name ? attr->name : "");
    return -FI_ENOSYS;
  }
  if (attr->flags & ~(FI_EVENT | FI_SYMMETRIC | FI_AV_USER_ID))
    return refuse(-FI_ENOSYS,
                  "only the flags FI_EVENT, FI_SYMMETRIC and FI_AV_USER_ID are supported");
  if (attr->rx_ctx_bits)
    return refuse(-FI_EINVAL, "scalable endpoints are not supported: rx_ctx_bits must be 0");
  if (raw(attr->type) > FI_AV_TABLE)
    return refuse(-FI_EINVAL,
                  "this type is not defined; allowed: FI_AV_UNSPEC, FI_AV_MAP and FI_AV_TABLE");

  const int rc = make(out, domain, *attr, context);
  if (rc == 0 && attr->type == FI_AV_UNSPEC)
    attr->type = domain.limits.av_type == FI_AV_MAP ? FI_AV_MAP : FI_AV_TABLE;
  return rc;
}

} // namespace util_ext

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/mr.h"

#include <algorithm>
#include <cstring>

namespace util_ext {

namespace {

constexpr std::uint64_t remote_rights = FI_REMOTE_READ | FI_REMOTE_WRITE;
constexpr std::uint64_t all_rights =
    FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_COLLECTIVE | remote_rights;

// FI_MR_BASIC, by its value: newer headers call it deprecated.
constexpr int basic = 1 << 0;

bool mode_has(int mr_mode, int bit) {
  return mr_mode == basic ? (bit & (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)) != 0
                          : (mr_mode & bit) != 0;
}

unsigned long long hex(std::uint64_t v) { return v; }

} // namespace

int Mr::check(Domain &domain, const fi_mr_attr &attr, std::uint64_t flags) {
  const fi_provider &prov = domain.provider();
  // FI_RMA_EVENT tells of counters to come; any region may have some.
  if (flags & ~FI_RMA_EVENT) {
    FI_WARN(&prov, FI_LOG_MR, "registration flags %#llx; allowed: FI_RMA_EVENT\n", hex(flags));
    return -FI_EBADFLAGS;
  }
  if (attr.access & ~all_rights) {
    FI_WARN(&prov, FI_LOG_MR, "access %#llx: only %#llx is defined\n", hex(attr.access),
            hex(all_rights));
    return -FI_EINVAL;
  }
  if (attr.offset) {
    FI_WARN(&prov, FI_LOG_MR, "offset %#llx: must be 0\n", hex(attr.offset));
    return -FI_EINVAL;
  }
  if (attr.iov_count == 0 || attr.iov_count > domain.limits.mr_iov_limit || !attr.mr_iov) {
    FI_WARN(&prov, FI_LOG_MR, "%zu buffers%s; allowed: an array of 1 to %zu\n", attr.iov_count,
            attr.mr_iov ? "" : " in a null array", domain.limits.mr_iov_limit);
    return -FI_EINVAL;
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < attr.iov_count; ++i) {
    const iovec &b = attr.mr_iov[i];
    const auto start = reinterpret_cast<std::uintptr_t>(b.iov_base);
    if (start + b.iov_len < start || length + b.iov_len < length) {
      FI_WARN(&prov, FI_LOG_MR, "buffer %zu: %zu bytes at %p exceed the address space\n", i,
              b.iov_len, b.iov_base);
      return -FI_EINVAL;
    }
    length += b.iov_len;
  }
  if (FI_VERSION_GE(domain.api_version(), FI_VERSION(1, 5)) && attr.auth_key_size) {
    FI_WARN(&prov, FI_LOG_MR, "authorization keys of regions are not supported\n");
    return -FI_ENOSYS;
  }
  if (FI_VERSION_GE(domain.api_version(), FI_VERSION(1, 10)) && raw(attr.iface) != FI_HMEM_SYSTEM) {
    FI_WARN(&prov, FI_LOG_MR, "memory interface %u: only FI_HMEM_SYSTEM is supported\n",
            raw(attr.iface));
    return -FI_ENOSYS;
  }
  return 0;
}

// Only what peers may access needs a key that is its own.
int Mr::start() {
  const fi_provider &prov = domain_->provider();
  const std::size_t key_size = std::min<std::size_t>(domain_->limits.mr_key_size, 8);
  if (!(access_ & remote_rights)) {
    key = mode_has(domain_->limits.mr_mode, FI_MR_PROV_KEY) ? 0 : requested_key_;
    return 0;
  }
  if (mode_has(domain_->limits.mr_mode, FI_MR_PROV_KEY)) {
    if (const int rc = domain_->regions.insert_random(region_, key_size); rc != 0) {
      FI_WARN(&prov, FI_LOG_MR, "no key: %s\n", fi_strerror(-rc));
      return rc;
    }
  } else {
    if (requested_key_ == FI_KEY_NOTAVAIL || (key_size < 8 && requested_key_ >> key_size * 8)) {
      FI_WARN(&prov, FI_LOG_MR, "requested key %#llx: not of %zu bytes\n", hex(requested_key_),
              key_size);
      return -FI_EKEYREJECTED;
    }
    if (const int rc = domain_->regions.insert(region_, requested_key_); rc != 0) {
      FI_WARN(&prov, FI_LOG_MR, "requested key %llu (%#llx): another region has it\n",
              hex(requested_key_), hex(requested_key_));
      return rc;
    }
  }
  entered_ = true;
  key = region_.key;
  return 0;
}

// Endpoints reach every region of their domain, and each is there from its registration on: what
// FI_MR_ENDPOINT and FI_MR_RMA_EVENT make an application do beyond that changes nothing.
int Mr::bind(struct fid *f, struct fid *other, std::uint64_t flags) noexcept {
  Mr &self = *from(f);
  if (!other)
    return -FI_EINVAL;
  switch (other->fclass) {
  case FI_CLASS_CNTR:
    return guard([&] { return self.bind_cntr(*Cntr::from(other), flags); });
  case FI_CLASS_EP:
  case FI_CLASS_SEP:
    return flags ? -FI_EINVAL : 0;
  default:
    FI_WARN(&self.domain_->provider(), FI_LOG_MR,
            "bind: object of class %zu; allowed: counters and endpoints\n", other->fclass);
    return -FI_EINVAL;
  }
}

int Mr::bind_cntr(Cntr &cntr, std::uint64_t flags) {
  const fi_provider &prov = domain_->provider();
  if (flags == 0 || flags & ~remote_rights) {
    FI_WARN(&prov, FI_LOG_MR,
            "bind: counter with flags %#llx; allowed: FI_REMOTE_READ, FI_REMOTE_WRITE\n",
            hex(flags));
    return -FI_EINVAL;
  }
  if (&cntr.domain() != &*domain_) {
    FI_WARN(&prov, FI_LOG_MR,
            "bind: the counter is of another domain; allowed: the region's own\n");
    return -FI_EINVAL;
  }
  if ((flags & FI_REMOTE_READ && read_cntr_) || (flags & FI_REMOTE_WRITE && write_cntr_)) {
    FI_WARN(&prov, FI_LOG_MR, "bind: the region has a counter for that already\n");
    return -FI_EINVAL;
  }
  if (flags & FI_REMOTE_READ)
    read_cntr_ = Hold(cntr);
  if (flags & FI_REMOTE_WRITE)
    write_cntr_ = Hold(cntr);
  MrTable::count(region_, flags, cntr);
  return 0;
}

int Mr::control(struct fid *f, int command, void *arg) noexcept {
  if (command == FI_ENABLE)
    return 0; // as it is already
  if (command != FI_GET_RAW_MR)
    return -FI_ENOSYS;
  const Mr &self = *from(f);
  const auto *raw = static_cast<struct fi_mr_raw_attr *>(arg);
  if (!raw || !raw->key_size)
    return -FI_EINVAL;
  const std::size_t room = std::exchange(*raw->key_size, sizeof self.key);
  if (room < sizeof self.key || !raw->raw_key)
    return -FI_ETOOSMALL;
  std::memcpy(raw->raw_key, &self.key, sizeof self.key);
  if (raw->base_addr)
    *raw->base_addr = self.region_.base;
  return 0;
}

int map_raw_key(const struct fi_mr_map_raw &raw) noexcept {
  if (!raw.raw_key || !raw.key || raw.key_size != sizeof *raw.key)
    return -FI_EINVAL;
  std::memcpy(raw.key, raw.raw_key, sizeof *raw.key);
  return 0;
}

Mr::Mr(Domain &domain, const fi_mr_attr &attr)
    : domain_(domain), access_(attr.access), requested_key_(attr.requested_key) {
  fid = {FI_CLASS_MR, attr.context, fid_ops()};
  mem_desc = this;
  key = FI_KEY_NOTAVAIL;

  region_.buffers.assign(attr.mr_iov, attr.mr_iov + attr.iov_count);
  for (const iovec &b : region_.buffers)
    region_.length += b.iov_len;
  if (mode_has(domain.limits.mr_mode, FI_MR_VIRT_ADDR))
    region_.base = reinterpret_cast<std::uintptr_t>(attr.mr_iov[0].iov_base);
  region_.access = attr.access & remote_rights;
}

Mr::~Mr() {
  if (entered_)
    domain_->regions.remove(region_);
}

int Mr::open(Domain &domain, const fi_mr_attr *attr, std::uint64_t flags, fid_mr **out) noexcept {
  if (!attr || !out)
    return -FI_EINVAL;
  const int rc = guard([&] { return check(domain, *attr, flags); });
  return rc ? rc : make(out, domain, *attr);
}

} // namespace util_ext

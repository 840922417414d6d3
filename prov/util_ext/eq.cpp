// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/eq.h"

#include "util_ext/ops.h"

#include <cstring>

namespace util_ext {

static constexpr std::size_t default_size = 256;

// ---- events in

void Eq::append(Entry &&e) {
  std::lock_guard lock(mutex_);
  entries_.push_back(std::move(e));
  wait_.notify();
}

int Eq::write(std::uint32_t event, const void *data, std::size_t len) noexcept {
  return guard([&] {
    const auto *bytes = static_cast<const std::byte *>(data);
    append({event, {bytes, bytes + len}, {}, {}});
    return 0;
  });
}

int Eq::write_connection(std::uint32_t event, struct fid *about, InfoPtr info,
                         std::span<const std::byte> data) noexcept {
  return guard([&] {
    fi_eq_cm_entry head{};
    head.fid = about;
    head.info = info.get();
    Entry e;
    e.event = event;
    e.data.resize(sizeof head);
    std::memcpy(e.data.data(), &head, sizeof head);
    e.data.insert(e.data.end(), data.begin(), data.end());
    e.info = std::move(info);
    append(std::move(e));
    return 0;
  });
}

int Eq::write_error(const EventError &error) noexcept {
  return guard([&] {
    Entry e;
    e.error.emplace(Error{error, {}});
    e.error->data.assign(error.err_data, error.err_data_size);
    append(std::move(e));
    return 0;
  });
}

ssize_t Eq::write_user(fid_eq *eq, std::uint32_t event, const void *buf, std::size_t len,
                       std::uint64_t flags) noexcept {
  Eq &self = *from(&eq->fid);
  if (!self.writable_) {
    FI_WARN(&self.fabric_->provider(), FI_LOG_EQ, "fi_eq_write on an EQ opened without FI_WRITE\n");
    return -FI_EINVAL;
  }
  if (flags || (!buf && len))
    return -FI_EINVAL;
  {
    std::lock_guard lock(self.mutex_);
    if (self.entries_.size() >= self.size_)
      return -FI_EAGAIN;
  }
  const int rc = self.write(event, buf, len);
  return rc ? rc : static_cast<ssize_t>(len);
}

void Eq::forget(const struct fid *about) noexcept {
  std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry &e) {
    if (e.error)
      return e.error->error.fid == about;
    const void *f = nullptr; // first in every kind of event
    if (e.data.size() >= sizeof f)
      std::memcpy(&f, e.data.data(), sizeof f);
    return f == about;
  });
}

// ---- events out

bool Eq::quiet() noexcept {
  std::lock_guard lock(mutex_);
  return entries_.empty();
}

int Eq::check_flags(std::uint64_t flags) const {
  if (!(flags & ~FI_PEEK)) [[likely]]
    return 0;
  FI_WARN(&fabric_->provider(), FI_LOG_EQ, "reading an EQ with flags %#llx; allowed: FI_PEEK\n",
          static_cast<unsigned long long>(flags));
  return -FI_EINVAL;
}

ssize_t Eq::take(std::uint32_t *event, void *buf, std::size_t len, std::uint64_t flags) {
  std::lock_guard lock(mutex_);
  if (entries_.empty())
    return -FI_EAGAIN;
  Entry &e = entries_.front();
  if (e.error)
    return -FI_EAVAIL;
  const std::size_t size = e.data.size();
  if (len < size)
    return -FI_ETOOSMALL;
  if (event)
    *event = e.event;
  if (size)
    std::memcpy(buf, e.data.data(), size);
  if (!(flags & FI_PEEK)) {
    (void)e.info.release(); // the reader's
    entries_.pop_front();
  }
  return static_cast<ssize_t>(size);
}

ssize_t Eq::take_error(fi_eq_err_entry &out, std::uint64_t flags) {
  std::lock_guard lock(mutex_);
  if (entries_.empty() || !entries_.front().error)
    return -FI_EAGAIN;
  reported_ = entries_.front().error;
  const EventError &error = reported_->error;
  out.fid = error.fid;
  out.context = error.context;
  out.data = error.data;
  out.err = error.err;
  out.prov_errno = error.prov_errno;
  reported_->data.give(out, fabric_->api_version(), true);
  if (!(flags & FI_PEEK))
    entries_.pop_front();
  return sizeof out;
}

ssize_t Eq::read_once(std::uint32_t *event, void *buf, std::size_t len, std::uint64_t flags) {
  if (wait_.fd_armed())
    wait_.disarm_fd();
  const ssize_t rc = take(event, buf, len, flags);
  if (rc != -FI_EAGAIN)
    return rc;
  fabric_->progress();
  return take(event, buf, len, flags);
}

ssize_t Eq::read_blocking(std::uint32_t *event, void *buf, std::size_t len, int timeout,
                          std::uint64_t flags) {
  if (!wait_.blocking())
    return -FI_ENOSYS;
  const Deadline deadline(timeout);
  for (bool last = false;;) {
    const ssize_t rc = read_once(event, buf, len, flags);
    if (rc != -FI_EAGAIN)
      return rc;
    if (last)
      return -FI_EINTR;
    if (deadline.passed())
      return -FI_EAGAIN;
    Wait::Sleeper sleeper(wait_);
    if (quiet())
      last = sleeper.sleep(deadline) == -FI_EINTR;
  }
}

int Eq::try_wait() noexcept {
  if (membership_)
    return membership_.set().try_wait();
  return guard([&] { return wait_.try_wait([&] { return quiet(); }); });
}

// ---- the C interface

ssize_t Eq::read(fid_eq *eq, std::uint32_t *event, void *buf, std::size_t len,
                 std::uint64_t flags) noexcept {
  Eq &self = *from(&eq->fid);
  const int rc = self.check_flags(flags);
  return rc ? rc : guard([&] { return self.read_once(event, buf, len, flags); });
}

ssize_t Eq::sread(fid_eq *eq, std::uint32_t *event, void *buf, std::size_t len, int timeout,
                  std::uint64_t flags) noexcept {
  Eq &self = *from(&eq->fid);
  const int rc = self.check_flags(flags);
  return rc ? rc : guard([&] { return self.read_blocking(event, buf, len, timeout, flags); });
}

ssize_t Eq::readerr(fid_eq *eq, fi_eq_err_entry *out, std::uint64_t flags) noexcept {
  Eq &self = *from(&eq->fid);
  const int rc = self.check_flags(flags);
  return rc ? rc : guard([&] { return self.take_error(*out, flags); });
}

const char *Eq::strerror(fid_eq *, int prov_errno, const void *, char *buf,
                         std::size_t len) noexcept {
  return explain(prov_errno, buf, len);
}

int Eq::control(struct fid *f, int command, void *arg) noexcept {
  return guard([&] { return from(f)->wait_.control(command, arg); });
}

int Eq::start() {
  if (const int rc = wait_.open(fabric_->provider(), FI_LOG_EQ, "EQ"); rc != 0)
    return rc;
  return membership_.join(*this, fabric_->wait_source());
}

Eq::Eq(Fabric &fabric, const fi_eq_attr &attr, const WaitChoice &wait, void *context)
    : fabric_(fabric), size_(attr.size ? attr.size : default_size),
      writable_(attr.flags & FI_WRITE), wait_(wait.make(fabric.wait_source())),
      membership_(wait.set) {
  static fi_ops_eq eq_ops = [] {
    auto t = all_missing<fi_ops_eq>();
    t.read = read;
    t.readerr = readerr;
    t.write = write_user;
    t.sread = sread;
    t.strerror = strerror;
    return t;
  }();
  fid = {FI_CLASS_EQ, context, fid_ops()};
  ops = &eq_ops;
}

int Eq::open(Fabric &fabric, const fi_eq_attr *given, fid_eq **out, void *context) noexcept {
  const fi_provider &prov = fabric.provider();
  const fi_eq_attr attr = given ? *given : fi_eq_attr{};
  if (!out)
    return -FI_EINVAL;
  WaitChoice wait;
  if (const int rc = wait.read(prov, FI_LOG_EQ, "EQ", raw(attr.wait_obj), attr.wait_set); rc != 0)
    return rc;
  if (attr.flags & ~(FI_WRITE | FI_AFFINITY)) {
    FI_WARN(&prov, FI_LOG_EQ, "EQ flags %#llx: only FI_WRITE and FI_AFFINITY are supported\n",
            static_cast<unsigned long long>(attr.flags));
    return -FI_EINVAL;
  }

  return make(out, fabric, attr, wait, context);
}

} // namespace util_ext

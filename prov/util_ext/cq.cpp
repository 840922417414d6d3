// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/cq.h"

#include "util_ext/ops.h"

#include <algorithm>
#include <cstring>

namespace util_ext {

// ---- entries in, entries out

void Cq::write_error(const CompletionError &e) noexcept {
  std::unique_ptr<Error> more;
  if (e.olen || e.err_data_size)
    more.reset(new (std::nothrow) Error{e.olen, e.err, e.prov_errno, {}});
  if (more)
    more->data.assign(e.err_data, e.err_data_size);
  Failure failure = more ? Failure(std::move(more)) : Failure(e.err, e.prov_errno);
  std::lock_guard lock(mutex_);
  if (append(e.entry, failure)) {
    ++errors_;
  } else {
    Error lost{};
    failure.take(lost);
  }
}

void Cq::Failure::take(Error &out) noexcept {
  if (word_ & 1) {
    out = {0,
           static_cast<int>(static_cast<std::uint32_t>(word_) >> 1),
           static_cast<int>(word_ >> 32),
           {}};
  } else {
    const std::unique_ptr<Error> more(reinterpret_cast<Error *>(word_));
    out = *more;
  }
  word_ = 0;
}

void Cq::overrun() noexcept {
  if (!overrun_) {
    const char *advice = domain_->limits.cq_overrun_advice;
    FI_WARN(&domain_->provider(), FI_LOG_CQ,
            "completion queue overrun: it was opened with size %zu, %zu entries wait to be "
            "read, and no more can be kept: entries are lost from here on. Read it more "
            "often%s%s\n",
            size_, count(), advice ? ", or " : "", advice ? advice : "");
  }
  overrun_ = true;
  bound_ = 0; // it takes no more, even once it has been read
  wait_.notify();
}

static inline void fill(fi_cq_entry &out, const Completion &c) { out = {c.op_context}; }
static inline void fill(fi_cq_msg_entry &out, const Completion &c) {
  out = {c.op_context, c.flags, c.len};
}
static inline void fill(fi_cq_data_entry &out, const Completion &c) {
  out = {c.op_context, c.flags, c.len, c.buf, c.data};
}
static inline void fill(fi_cq_tagged_entry &out, const Completion &c) {
  out = {c.op_context, c.flags, c.len, c.buf, c.data, c.tag};
}

// Moves entries out, up to the first error. The lock is held.
template <class E> ssize_t Cq::take(E *out, std::size_t max, fi_addr_t *src) noexcept {
  std::size_t done = 0, piece = 0;
  while (done < max) {
    const Entry *e = entries_.front(piece);
    if (!e)
      break;
    piece = std::min(piece, max - done);
    std::size_t n = 0;
    for (; n < piece && !e[n].failure; ++n) {
      fill(out[done + n], e[n].completion);
      if (src)
        src[done + n] = e[n].completion.src;
    }
    if (n)
      entries_.pop(n);
    done += n;
    if (n < piece)
      break;
  }
  if (done) {
    count_.store(count() - done, std::memory_order_release);
    return static_cast<ssize_t>(done);
  }
  if (count() == 0)
    return overrun_ ? -FI_EAVAIL : -FI_EAGAIN;
  return entries_.front()->failure ? -FI_EAVAIL : 0;
}

// Entries that are there are served before progress is made; now and then it is
// made all the same, as a caller may never see the queue empty.
template <class E> ssize_t Cq::read(E *out, std::size_t max, fi_addr_t *src) noexcept {
  if (wait_.fd_armed()) [[unlikely]]
    wait_.disarm_fd();
  const bool found = count() != 0 && max != 0;
  if (!found) {
    if (drives_progress_)
      domain_->progress();
    else
      domain_->polled_in_vain();
  }
  if (count() == 0 && !overrun_.load(std::memory_order_relaxed))
    return -FI_EAGAIN;

  ssize_t rc;
  bool progress;
  {
    std::lock_guard lock(mutex_);
    rc = take(out, max, src);
    progress = found && (++reads_ & 15) == 0;
  }
  if (progress && drives_progress_) [[unlikely]]
    domain_->progress();
  return rc;
}

// ---- blocking reads

bool Cq::satisfied(std::size_t threshold) noexcept {
  std::lock_guard lock(mutex_);
  return count() >= threshold || errors_ != 0 || overrun_;
}

template <class E>
ssize_t Cq::read_blocking(E *out, std::size_t max, fi_addr_t *src, std::size_t threshold,
                          int timeout) {
  if (!wait_.blocking())
    return -FI_ENOSYS;
  const Deadline deadline(timeout);
  Wait::Patience patience(wait_, deadline);
  const std::uint64_t mark = wait_.mark();
  // Once it is set, the next look is the last; what is answered if that is in vain.
  for (ssize_t end = 0;;) {
    if (threshold <= 1 || end != 0 || satisfied(threshold)) {
      const ssize_t rc = read(out, max, src);
      if (rc != -FI_EAGAIN)
        return rc;
      if (end != 0)
        return end;
    } else if (drives_progress_) {
      domain_->progress();
    }
    if (wait_.interrupted(mark)) {
      wait_.acknowledge();
      end = -FI_EAGAIN;
      continue;
    }
    if (patience.left())
      continue;
    if (deadline.passed()) {
      end = -FI_EAGAIN;
      continue;
    }
    domain_->poller_sleeps();
    Wait::Sleeper sleeper(wait_);
    if (!satisfied(threshold) && !wait_.interrupted(mark) && sleeper.sleep(deadline) == -FI_EINTR)
      end = -FI_EINTR;
  }
}

int Cq::try_wait() noexcept {
  if (membership_)
    return membership_.set().try_wait();
  return guard([&] { return wait_.try_wait([&] { return quiet(); }); });
}

void Cq::drive() {
  if (drives_progress_)
    domain_->progress();
}

// ---- errors

// Where the headers that this is built with know the field.
template <class E> static void set_source(E &out, fi_addr_t src) {
  if constexpr (requires { out.src_addr; })
    out.src_addr = src;
}

// The oldest entry is an error, or the queue is in overrun. The lock is held.
ssize_t Cq::report(fi_cq_err_entry &out) noexcept {
  Entry *e = entries_.front();
  Completion c;
  if (e) {
    e->failure.take(reported_);
    c = e->completion;
  } else {
    reported_ = {0, FI_EOVERRUN, 0, {}};
  }

  const std::uint32_t api = domain_->api_version();
  out.op_context = c.op_context;
  out.flags = c.flags;
  out.len = c.len;
  out.buf = c.buf;
  out.data = c.data;
  out.tag = c.tag;
  out.olen = reported_.olen;
  out.err = reported_.err;
  out.prov_errno = reported_.prov_errno;
  reported_.data.give(out, api, false);
  if (FI_VERSION_GE(api, FI_VERSION(1, 20)))
    set_source(out, c.src);

  if (e) {
    entries_.pop(1);
    count_.store(count() - 1, std::memory_order_release);
    --errors_;
  }
  return 1;
}

ssize_t Cq::readerr(fid_cq *cq, fi_cq_err_entry *out, std::uint64_t) noexcept {
  Cq &self = *from(&cq->fid);
  std::lock_guard lock(self.mutex_);
  const Entry *e = self.entries_.front();
  if (e ? !e->failure : !self.overrun_)
    return -FI_EAGAIN;
  return self.report(*out);
}

const char *Cq::strerror(fid_cq *, int prov_errno, const void *, char *buf,
                         std::size_t len) noexcept {
  return explain(prov_errno, buf, len);
}

// ---- the C interface

template <class E> struct Cq::Format {
  static ssize_t read(fid_cq *cq, void *buf, std::size_t count) noexcept {
    return from(&cq->fid)->read(static_cast<E *>(buf), count, nullptr);
  }
  static ssize_t readfrom(fid_cq *cq, void *buf, std::size_t count, fi_addr_t *src) noexcept {
    return from(&cq->fid)->read(static_cast<E *>(buf), count, src);
  }
  static ssize_t sread(fid_cq *cq, void *buf, std::size_t count, const void *cond,
                       int timeout) noexcept {
    return sreadfrom(cq, buf, count, nullptr, cond, timeout);
  }
  static ssize_t sreadfrom(fid_cq *cq, void *buf, std::size_t count, fi_addr_t *src,
                           const void *cond, int timeout) noexcept {
    Cq &self = *from(&cq->fid);
    // A queue never holds more than its size for long.
    std::size_t threshold = 1;
    if (self.wait_cond_ == FI_CQ_COND_THRESHOLD && cond)
      threshold = std::clamp<std::size_t>(*static_cast<const std::size_t *>(cond), 1, self.size_);
    return guard(
        [&] { return self.read_blocking(static_cast<E *>(buf), count, src, threshold, timeout); });
  }

  static inline fi_ops_cq ops = [] {
    auto t = all_missing<fi_ops_cq>();
    t.read = read;
    t.readfrom = readfrom;
    t.readerr = readerr;
    t.sread = sread;
    t.sreadfrom = sreadfrom;
    t.signal = signal;
    t.strerror = strerror;
    return t;
  }();
};

int Cq::signal(fid_cq *cq) noexcept {
  Cq &self = *from(&cq->fid);
  if (!self.wait_.can_interrupt())
    return -FI_ENOSYS;
  self.wait_.interrupt();
  return 0;
}

int Cq::control(struct fid *f, int command, void *arg) noexcept {
  return guard([&] { return from(f)->wait_.control(command, arg); });
}

int Cq::open(Domain &domain, const fi_cq_attr *attr, fid_cq **out, void *context) noexcept {
  const fi_provider &prov = domain.provider();
  if (!attr || !out)
    return -FI_EINVAL;
  WaitChoice wait;
  if (const int rc = wait.read(prov, FI_LOG_CQ, "CQ", raw(attr->wait_obj), attr->wait_set); rc != 0)
    return rc;
  if (attr->flags & ~FI_AFFINITY) { // the affinity itself is a hint: nothing interrupts here
    FI_WARN(&prov, FI_LOG_CQ, "CQ flags %#llx: only FI_AFFINITY is supported\n",
            static_cast<unsigned long long>(attr->flags));
    return -FI_EINVAL;
  }
  if (attr->wait_obj != FI_WAIT_NONE && raw(attr->wait_cond) > FI_CQ_COND_THRESHOLD) {
    FI_WARN(&prov, FI_LOG_CQ, "CQ wait condition %u is not defined\n", raw(attr->wait_cond));
    return -FI_EINVAL;
  }
  if (attr->size > max_size) {
    FI_WARN(&prov, FI_LOG_CQ, "CQ size %zu: at most %zu\n", attr->size, max_size);
    return -FI_EINVAL;
  }

  fi_ops_cq *ops_cq;
  switch (raw(attr->format)) {
  case FI_CQ_FORMAT_UNSPEC: // whatever a caller's buffer was made for, this fits into it
  case FI_CQ_FORMAT_CONTEXT:
    ops_cq = &Format<fi_cq_entry>::ops;
    break;
  case FI_CQ_FORMAT_MSG:
    ops_cq = &Format<fi_cq_msg_entry>::ops;
    break;
  case FI_CQ_FORMAT_DATA:
    ops_cq = &Format<fi_cq_data_entry>::ops;
    break;
  case FI_CQ_FORMAT_TAGGED:
    ops_cq = &Format<fi_cq_tagged_entry>::ops;
    break;
  default:
    FI_WARN(&prov, FI_LOG_CQ, "CQ format %u is not defined; the last is %d (FI_CQ_FORMAT_TAGGED)\n",
            raw(attr->format), FI_CQ_FORMAT_TAGGED);
    return -FI_EINVAL;
  }

  return make(out, domain, *attr, wait, *ops_cq, context);
}

int Cq::start() {
  if (const int rc = wait_.open(domain_->provider(), FI_LOG_CQ, "CQ"); rc != 0)
    return rc;
  return membership_.join(*this, source_);
}

Cq::Cq(Domain &domain, const fi_cq_attr &attr, const WaitChoice &wait, fi_ops_cq &ops_cq,
       void *context)
    : domain_(domain), drives_progress_(!domain.auto_progress()),
      source_(drives_progress_ ? &domain.wait_source() : nullptr),
      size_(attr.size ? attr.size : domain.limits.cq_size),
      bound_(size_ + domain.limits.cq_overrun), mutex_(domain.locking()),
      entries_(size_ / chunk_entries + 1), wait_(wait.make(source_)), wait_cond_(attr.wait_cond),
      membership_(wait.set) {
  fid = {FI_CLASS_CQ, context, fid_ops()};
  ops = &ops_cq;
}

Cq::~Cq() {
  while (Entry *e = entries_.front()) {
    if (e->failure)
      e->failure.take(reported_);
    entries_.pop(1);
  }
}

} // namespace util_ext

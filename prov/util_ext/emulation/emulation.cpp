// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fi_dpdkx_emulation(3): a domain that has counters and deferred work, over one
// of a provider that has not. Its operations are the provider's; what triggers
// them is here.
#include "util_ext/cntr_ops.h"
#include "util_ext/deferred.h"
#include "util_ext/emulation/transport.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

namespace util_ext::emulation {

namespace {

const fi_provider &log_as() {
  static const fi_provider provider = [] {
    fi_provider p{};
    p.name = "dpdkx_emulation";
    return p;
  }();
  return provider;
}

int refuse(const char *text) {
  FI_WARN(&log_as(), FI_LOG_DOMAIN, "%s", text);
  return -FI_EINVAL;
}

template <class First, class... Rest> int refuse(const char *format, First first, Rest... rest) {
  FI_WARN(&log_as(), FI_LOG_DOMAIN, format, first, rest...);
  return -FI_EINVAL;
}

class Emulation final : public Domain, private WaitSource {
public:
  Emulation(const fi_dpdkx_emulation_attr &attr, void *context)
      : Domain(log_as(), attr.info->domain_attr->threading, FI_PROGRESS_MANUAL,
               attr.info->fabric_attr ? attr.info->fabric_attr->api_version : FI_VERSION(1, 17)),
        handle_{{}, *this}, transport(attr, log_as(), exported) {
    handle_.domain.fid = {FI_CLASS_DOMAIN, context, fid_ops()};
    handle_.domain.ops = domain_ops();
  }

  static Emulation &from(struct fid *f) { return reinterpret_cast<Handle *>(f)->self; }
  fid_domain *handle() { return &handle_.domain; }

  void progress() override {
    transport.progress();
    if (triggers.due() || triggers.stuck())
      triggers.run(true);
  }
  void polled_in_vain() override {}
  WaitSource &wait_source() override { return *this; }
  int make_work(const fi_deferred_work &, std::unique_ptr<Work> &) override;

  static fi_ops *fid_ops();

private:
  struct Handle {
    fid_domain domain;
    Emulation &self;
  };
  static fi_ops_domain *domain_ops();

  int fd() override { return -1; } // nobody can say when something comes: callers poll
  bool arm() override { return false; }
  void disarm() override {}

  Handle handle_;

public:
  Transport transport;
};

// ---- works

// `Post` starts the operation with a context; it owns copies of what describes it.
template <class Post> class Operation final : public Work, private UnderWay {
public:
  Operation(Emulation &domain, Post post, fi_addr_t accesses)
      : Work(true), domain_(domain), post_(std::move(post)), accesses_(accesses) {}

private:
  int fire() noexcept override {
    return guard([&] {
      if (accesses_ != FI_ADDR_UNSPEC)
        domain_.transport.begin_access(accesses_);
      const ssize_t rc = post_(context());
      if (rc != 0 && accesses_ != FI_ADDR_UNSPEC)
        domain_.transport.end_access(accesses_);
      return static_cast<int>(rc);
    });
  }
  void over(int error) override {
    if (accesses_ != FI_ADDR_UNSPEC)
      domain_.transport.end_access(accesses_);
    domain_.triggers.ended(*this, error);
  }

  Emulation &domain_;
  Post post_;
  const fi_addr_t accesses_; // whose memory; or nobody's
};

class AddWork final : public Work, private Adder {
public:
  AddWork(Emulation &domain, const fi_op_remote_cntr &op) : Work(true), domain_(domain), op_(op) {}

private:
  int fire() noexcept override {
    return guard([&] { return domain_.transport.add(op_.addr, op_.cntr_key, op_.value, this); });
  }
  void applied(int error) override { domain_.triggers.ended(*this, error); }

  Emulation &domain_;
  const fi_op_remote_cntr op_;
};

template <class T> std::vector<T> copy(const T *from, std::size_t n) {
  return from ? std::vector<T>(from, from + n) : std::vector<T>();
}

// The vectors of a message, which may be gone when it goes.
template <class Msg, class Piece> struct Copied {
  Copied(const Msg &m)
      : msg(m), iov(copy(m.msg_iov, m.iov_count)), desc(copy(m.desc, m.iov_count)) {}
  Msg get(void *context) {
    Msg m = msg;
    m.msg_iov = iov.data();
    m.desc = desc.empty() ? nullptr : desc.data();
    m.context = context;
    return m;
  }
  Msg msg;
  std::vector<Piece> iov;
  std::vector<void *> desc;
};

template <class Msg, class Piece, class Target> struct CopiedAccess : Copied<Msg, Piece> {
  CopiedAccess(const Msg &m) : Copied<Msg, Piece>(m), targets(copy(m.rma_iov, m.rma_iov_count)) {}
  Msg get(void *context) {
    Msg m = Copied<Msg, Piece>::get(context);
    m.rma_iov = targets.data();
    return m;
  }
  std::vector<Target> targets;
};

Copied<fi_msg_tagged, iovec> copied(const fi_msg_tagged &m) { return m; }
CopiedAccess<fi_msg_rma, iovec, fi_rma_iov> copied(const fi_msg_rma &m) { return m; }
CopiedAccess<fi_msg_atomic, fi_ioc, fi_rma_ioc> copied(const fi_msg_atomic &m) { return m; }

struct Values {
  Values(const fi_ioc *from, void **from_desc, std::size_t n)
      : ioc(copy(from, n)), desc(copy(from_desc, n)) {}
  void **descriptors() { return desc.empty() ? nullptr : desc.data(); }
  std::vector<fi_ioc> ioc;
  std::vector<void *> desc;
};

// An operation is known to be over when its completion comes; a write, when its data are there.
constexpr std::uint64_t told = FI_COMPLETION;
constexpr std::uint64_t delivered = FI_COMPLETION | FI_DELIVERY_COMPLETE;

int check(const Emulation &domain, fid_ep *ep, std::uint64_t flags) {
  if (ep != domain.transport.ep())
    return refuse("deferred work: op.*.ep: must be the emulation's endpoint\n");
  if (flags & FI_COMPLETION) {
    refuse("deferred work: FI_COMPLETION: not supported; there is no queue to tell\n");
    return -FI_ENOSYS;
  }
  return 0;
}

template <class Op> int check(const Emulation &domain, const Op *op) {
  return op ? check(domain, op->ep, op->flags) : refuse("deferred work: op: must not be null\n");
}

int Emulation::make_work(const fi_deferred_work &work, std::unique_ptr<Work> &made) {
  const auto make = [&](fi_addr_t accesses, auto &&post) {
    made = std::make_unique<Operation<std::decay_t<decltype(post)>>>(
        *this, std::forward<decltype(post)>(post), accesses);
    return 0;
  };
  fid_ep *const ep = transport.ep();
  // What one call starts with a message and flags.
  const auto message = [&](const auto *o, auto *call, std::uint64_t flags, bool accesses) {
    if (const int rc = check(*this, o))
      return rc;
    return make(accesses ? o->msg.addr : FI_ADDR_UNSPEC,
                [ep, call, m = copied(o->msg), f = o->flags | flags](void *context) mutable {
                  const auto msg = m.get(context);
                  return call(ep, &msg, f);
                });
  };
  switch (raw(work.op_type)) {
  case FI_OP_TSEND:
    return message(work.op.tagged, fi_tsendmsg, told, false);
  case FI_OP_TRECV:
    return message(work.op.tagged, fi_trecvmsg, told, false);
  case FI_OP_READ:
    return message(work.op.rma, fi_readmsg, told, true);
  case FI_OP_WRITE:
    return message(work.op.rma, fi_writemsg, delivered, true);
  case FI_OP_ATOMIC:
    return message(work.op.atomic, fi_atomicmsg, delivered, true);
  case FI_OP_FETCH_ATOMIC: {
    const fi_op_fetch_atomic *o = work.op.fetch_atomic;
    if (const int rc = check(*this, o))
      return rc;
    return make(o->msg.addr, [ep, m = copied(o->msg), f = o->flags,
                              r = Values(o->fetch.msg_iov, o->fetch.desc, o->fetch.iov_count)](
                                 void *context) mutable {
      const fi_msg_atomic msg = m.get(context);
      return fi_fetch_atomicmsg(ep, &msg, r.ioc.data(), r.descriptors(), r.ioc.size(), f | told);
    });
  }
  case FI_OP_COMPARE_ATOMIC: {
    const fi_op_compare_atomic *o = work.op.compare_atomic;
    if (const int rc = check(*this, o))
      return rc;
    return make(o->msg.addr, [ep, m = copied(o->msg), f = o->flags,
                              c = Values(o->compare.msg_iov, o->compare.desc, o->compare.iov_count),
                              r = Values(o->fetch.msg_iov, o->fetch.desc, o->fetch.iov_count)](
                                 void *context) mutable {
      const fi_msg_atomic msg = m.get(context);
      return fi_compare_atomicmsg(ep, &msg, c.ioc.data(), c.descriptors(), c.ioc.size(),
                                  r.ioc.data(), r.descriptors(), r.ioc.size(), f | told);
    });
  }
  case FI_OP_REMOTE_CNTR_ADD: {
    const fi_op_remote_cntr *o = fi_dpdkx_get_remote_cntr_add(&work);
    if (const int rc = check(*this, o))
      return rc;
    made = std::make_unique<AddWork>(*this, *o);
    return 0;
  }
  default:
    refuse("deferred work: op_type %u: not supported; untagged messages are the emulation's own\n",
           raw(work.op_type));
    return -FI_ENOSYS;
  }
}

// ---- the C interface

// Which endpoint belongs to which emulation is not known here; the call names the endpoint only.
std::mutex all_mutex;
std::unordered_map<const fid_ep *, Emulation *> all;

int close(struct fid *f) {
  Emulation &self = Emulation::from(f);
  if (self.in_use())
    return -FI_EBUSY;
  {
    const std::lock_guard lock(all_mutex);
    all.erase(self.transport.ep());
  }
  delete &self;
  return 0;
}

int control(struct fid *f, int command, void *arg) {
  return control_work(Emulation::from(f), command, arg);
}

int open_cntr(fid_domain *domain, fi_cntr_attr *attr, fid_cntr **cntr, void *context) {
  return Cntr::open(Emulation::from(&domain->fid), attr, cntr, context);
}

ssize_t remote_add(fid_ep *ep, fi_addr_t addr, std::uint64_t key, std::uint64_t value,
                   std::uint64_t flags, void *) {
  return guard([&]() -> ssize_t {
    Emulation *domain = nullptr;
    {
      const std::lock_guard lock(all_mutex);
      if (const auto found = all.find(ep); found != all.end())
        domain = found->second;
    }
    if (!domain)
      return refuse("remote_add: the endpoint is not an emulation's\n");
    if (const int rc = check(*domain, ep, flags))
      return rc;
    return domain->transport.add(addr, key, value, nullptr);
  });
}

int export_one(fid_cntr *cntr, std::uint64_t access, std::uint64_t requested_key,
               std::uint64_t flags, std::uint64_t *key) {
  return export_cntr(log_as(), cntr, access, requested_key, flags, key);
}

int unexport_one(fid_cntr *cntr, std::uint64_t key) { return unexport_cntr(log_as(), cntr, key); }

int query(fid_domain *domain, fi_dpdkx_cntr_limits *limits) {
  if (!domain || domain->fid.ops != Emulation::fid_ops())
    return not_ours(log_as(), "query", "domain");
  return query_cntrs(Emulation::from(&domain->fid), limits);
}

int open_ops(struct fid *, const char *name, std::uint64_t flags, void **ops, void *) {
  static fi_dpdkx_ops_cntr table{sizeof(fi_dpdkx_ops_cntr), export_one, unexport_one, remote_add,
                                 query};
  return open_cntr_ops(log_as(), table, name, flags, ops);
}

fi_ops *Emulation::fid_ops() {
  static fi_ops ops = [] {
    auto t = all_missing<fi_ops>();
    t.close = close;
    t.control = control;
    t.ops_open = open_ops;
    return t;
  }();
  return &ops;
}

fi_ops_domain *Emulation::domain_ops() {
  static fi_ops_domain ops = [] {
    auto t = all_missing<fi_ops_domain>();
    t.cntr_open = open_cntr;
    return t;
  }();
  return &ops;
}

int check_attr(const fi_dpdkx_emulation_attr &a) {
  if (!a.info || !a.info->domain_attr || !a.domain || !a.av || !a.ep || !a.cq)
    return refuse("emulation: info, domain, av, ep, cq: none may be null\n");
  if (a.info->ep_attr && a.info->ep_attr->type != FI_EP_RDM)
    return refuse("emulation: an endpoint of type %u; allowed: FI_EP_RDM\n",
                  unsigned{a.info->ep_attr->type});
  if (!(a.info->caps & FI_MSG))
    return refuse("emulation: the endpoint was opened without FI_MSG\n");
  if (a.info->mode & ~(FI_CONTEXT | FI_CONTEXT2 | FI_BUFFERED_RECV))
    return refuse("emulation: mode %#llx; allowed: FI_CONTEXT, FI_CONTEXT2\n",
                  static_cast<unsigned long long>(a.info->mode));
  return 0;
}

} // namespace

} // namespace util_ext::emulation

extern "C" __attribute__((visibility("default"))) int
fi_dpdkx_emulate(const fi_dpdkx_emulation_attr *attr, fid_domain **emulated, void *context) {
  using namespace util_ext::emulation;
  if (!attr || !emulated || attr->size < sizeof *attr)
    return refuse("emulation: attr, of size %zu, and a place for the domain are wanted\n",
                  sizeof *attr);
  if (const int rc = check_attr(*attr))
    return rc;
  return util_ext::guard([&] {
    auto domain = std::make_unique<Emulation>(*attr, context);
    if (const int rc = domain->transport.start())
      return rc;
    const std::lock_guard lock(all_mutex);
    all[attr->ep] = domain.get();
    *emulated = domain.release()->handle();
    return 0;
  });
}

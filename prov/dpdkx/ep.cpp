// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/ep.h"

#include "dpdkx/address_format.h"
#include "dpdkx/base_info.h"
#include "dpdkx/key_digest.h"
#include "dpdkx/links.h"
#include "dpdkx/provider.h"
#include "util_ext/info.h"
#include "util_ext/ops.h"

#include <algorithm>
#include <rdma/fi_atomic.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_rma.h>

namespace dpdkx {

namespace {

int close_handle(struct fid *f) {
  EndpointHandle &handle = EndpointHandle::from(f);
  return util_ext::guard([&] { return handle.endpoint.close(&handle); });
}

int bind_handle(struct fid *f, struct fid *other, std::uint64_t flags) {
  if (!other)
    return -FI_EINVAL;
  return util_ext::guard([&] { return EndpointHandle::from(f).endpoint.bind(other, flags); });
}

int taken(const char *what) {
  FI_WARN(&provider, FI_LOG_EP_CTRL, "bind: the endpoint has %s for that already\n", what);
  return -FI_EINVAL;
}

// Nobody who waits there would drive the endpoint.
int foreign(const char *what, const char *owner) {
  FI_WARN(&provider, FI_LOG_EP_CTRL, "bind: the %s is of another %s; allowed: the endpoint's own\n",
          what, owner);
  return -FI_EINVAL;
}

// Capabilities that an application left out imply all that are about sending, receiving, and so on.
std::uint64_t all_caps(std::uint64_t caps) {
  return util_ext::detail::with_modifiers(caps, util_ext::detail::msg_modifiers |
                                                    util_ext::detail::rma_modifiers);
}

struct CounterSlot {
  std::uint64_t flag;
  util_ext::Cntr *op::Completers::*slot;
};

// fi_ep_bind(3): what a counter may count.
constexpr CounterSlot counter_slots[] = {
    {FI_SEND, &op::Completers::tx_cntr},
    {FI_RECV, &op::Completers::rx_cntr},
    {FI_READ, &op::Completers::read_cntr},
    {FI_WRITE, &op::Completers::write_cntr},
    {FI_REMOTE_READ, &op::Completers::remote_read_cntr},
    {FI_REMOTE_WRITE, &op::Completers::remote_write_cntr},
};

// `on_device`: the domain has one.
int check_info(const fi_info *info, bool on_device) {
  if (!info || !info->ep_attr || !info->tx_attr || !info->rx_attr)
    return -FI_EINVAL;
  const unsigned type = util_ext::raw(info->ep_attr->type);
  const bool datagrams = type == FI_EP_DGRAM;
  if (type != FI_EP_RDM && type != FI_EP_MSG && !datagrams) {
    FI_WARN(&provider, FI_LOG_EP_CTRL,
            "endpoint type %u; allowed: FI_EP_RDM, FI_EP_MSG, FI_EP_DGRAM\n", type);
    return -FI_EINVAL;
  }
  const std::uint64_t multicast = on_device ? FI_MULTICAST : 0;
  const std::uint64_t allowed = datagrams ? datagram_caps | multicast : offered_caps;
  if (info->caps & ~allowed) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "capabilities %#llx of an %s; allowed: %#llx\n",
            static_cast<unsigned long long>(info->caps),
            datagrams           ? "FI_EP_DGRAM"
            : type == FI_EP_RDM ? "FI_EP_RDM"
                                : "FI_EP_MSG",
            static_cast<unsigned long long>(allowed));
    return -FI_EINVAL;
  }
  if (const int rc = check_format(info->addr_format))
    return rc;
  const std::size_t tx = info->ep_attr->tx_ctx_cnt, rx = info->ep_attr->rx_ctx_cnt;
  if (tx > 1 || (rx > 1 && (datagrams || rx != FI_SHARED_CONTEXT))) {
    FI_WARN(&provider, FI_LOG_EP_CTRL,
            "tx_ctx_cnt %zu, rx_ctx_cnt %zu; allowed: 1, and FI_SHARED_CONTEXT for receives of "
            "other endpoints than FI_EP_DGRAM\n",
            tx, rx);
    return -FI_EINVAL;
  }
  if (const int rc = flags::check(info->tx_attr->op_flags,
                                  !datagrams  ? flags::tx_defaults
                                  : on_device ? flags::dgram_tx_defaults | FI_MULTICAST
                                              : flags::dgram_tx_defaults))
    return rc;
  return flags::check(info->rx_attr->op_flags, flags::rx_defaults);
}

} // namespace

// ---- handles

EndpointHandle::EndpointHandle(Endpoint &endpoint, void *context)
    : fid_ep(), endpoint(endpoint), any_source(endpoint.source(0)),
      tx_defaults(endpoint.tx_op_flags_), rx_defaults(endpoint.rx_op_flags_) {
  static fi_ops fid_ops = [] {
    auto t = util_ext::all_missing<fi_ops>();
    t.close = close_handle;
    t.bind = bind_handle;
    t.control = dpdkx::control;
    return t;
  }();
  static fi_ops_msg no_msg = util_ext::all_missing<fi_ops_msg>();
  static fi_ops_tagged no_tagged = util_ext::all_missing<fi_ops_tagged>();
  static fi_ops_rma no_rma = util_ext::all_missing<fi_ops_rma>();
  static fi_ops_atomic no_atomic = util_ext::all_missing<fi_ops_atomic>();
  static fi_ops_collective no_collective = util_ext::all_missing<fi_ops_collective>();
  fid = {FI_CLASS_EP, context, &fid_ops};
  ops = &ep_ops;
  cm = endpoint.connection_            ? &connected_cm_ops
       : endpoint.caps_ & FI_MULTICAST ? &multicast_cm_ops
                                       : &cm_ops;
  msg = endpoint.caps_ & FI_MSG ? msg_ops(endpoint.caps_, endpoint.datagrams()) : &no_msg;
  tagged = endpoint.caps_ & FI_TAGGED ? tagged_ops(endpoint.caps_) : &no_tagged;
  rma = endpoint.caps_ & FI_RMA ? &rma_ops : &no_rma;
  atomic = endpoint.caps_ & FI_ATOMIC ? &atomic_ops : &no_atomic;
  collective = &no_collective;
  ++endpoint.handles_;
  update_flags();
}

void EndpointHandle::update_flags() {
  send_flags = flags::of_send(tx_defaults, endpoint.selective_send());
  recv_flags = flags::of_receive(rx_defaults, endpoint.selective_receive());
  trecv_flags = recv_flags & ~FI_MULTI_RECV; // which is about untagged messages
  write_flags = flags::of_write(tx_defaults, endpoint.selective_send());
  read_flags = flags::of_read(tx_defaults, endpoint.selective_send());
  fetch_flags = flags::of_fetch(tx_defaults, endpoint.selective_send());
}

// ---- life

int Endpoint::open(Domain &domain, const fi_info *info, fid_ep **out, void *context) {
  if (!out)
    return -FI_EINVAL;
  if (const int rc = check_info(info, domain.device()))
    return rc;
  Address source = Address::v4(0, 0);
  if (const int rc = read_source(*info, source))
    return rc;
  EpConnection::Origin origin;
  if (info->ep_attr->type == FI_EP_MSG)
    if (const int rc = EpConnection::open(domain.fabric(), *info, origin))
      return rc;
  auto *endpoint = new Endpoint(domain, *info, source, std::move(origin));
  try {
    *out = new EndpointHandle(*endpoint, context);
  } catch (...) {
    delete endpoint;
    throw;
  }
  return 0;
}

Endpoint::Endpoint(Domain &domain, const fi_info &info, const Address &source,
                   EpConnection::Origin origin)
    : domain_(domain), inject_size_(info.tx_attr->inject_size), caps_(all_caps(info.caps)),
      type_(info.ep_attr->type), format_(info.addr_format),
      tx_size_(info.tx_attr->size ? info.tx_attr->size : domain.settings().engine.tx_size),
      rx_size_(info.rx_attr->size ? info.rx_attr->size : domain.settings().engine.rx_size),
      tx_op_flags_(info.tx_attr->op_flags), rx_op_flags_(info.rx_attr->op_flags),
      shares_rx_(info.ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT),
      traffic_class_(info.tx_attr->tclass ? info.tx_attr->tclass : domain.traffic_class()),
      key_(key_of(info, domain.settings().engine.session.key)),
      connection_(std::move(origin.connection)),
      source_(origin.any_place ? source : origin.place.self), works_(domain.locking()) {
  // Ports belong to their device, which the domain keeps.
  if (origin.placed && origin.place.device.get() == domain.device()) {
    self_ = origin.place.self;
    links_ = std::move(origin.place.links);
    linked_ = true;
  }
  completers_.regions = &domain_.regions;
  completers_.exported = &domain_.exported;
  completers_.remote_rights = caps_ & (FI_REMOTE_READ | FI_REMOTE_WRITE);
  completers_.source = caps_ & FI_SOURCE;
  completers_.source_err = caps_ & FI_SOURCE_ERR;
  domain_.acquire();
}

Endpoint::~Endpoint() {
  if (av_)
    av_->remove_listener(*this);
  for (util_ext::Cq *cq : {completers_.tx_cq, completers_.rx_cq})
    if (cq)
      cq->release();
  domain_.release();
}

int Endpoint::close(EndpointHandle *handle) {
  if (handles_ == 1 && !domain_.inherited()) {
    domain_.triggers.settle();
    if (const auto works = works_.count()) {
      FI_WARN(&provider, FI_LOG_EP_CTRL,
              "endpoint %s: %u deferred works name it; FI_CANCEL_WORK, FI_FLUSH_WORK or fi_cancel "
              "remove them\n",
              to_string(self_).c_str(), works);
      return -FI_EBUSY;
    }
  }
  if (handles_ == 1 && groups_ != 0) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "endpoint %s: it is in %u groups; fi_close leaves them\n",
            to_string(self_).c_str(), groups_.load());
    return -FI_EBUSY;
  }
  if (connection_ && engine_ && !domain_.inherited() && handles_ > 1) {
    const std::lock_guard lock(engine_->mutex());
    connection_->forget(&handle->fid);
  }
  if (eq_)
    eq_->forget(&handle->fid);
  delete handle;
  if (--handles_ != 0)
    return 0;
  const bool inherited = domain_.inherited();
  if (engine_ && !inherited && !domain_.linger(*engine_))
    tell_what_is_lost();
  std::unique_ptr<engine::Endpoint> engine;
  {
    const std::lock_guard lock(engine_guard_);
    engine = std::move(engine_);
  }
  if (engine && inherited) {
    (void)engine.release(); // the parent's
    (void)connection_.release();
  } else if (engine) {
    domain_.stop(*engine);
    if (connection_)
      domain_.fabric().leave(domain_);
    if (srx_)
      srx_->leave(*engine);
    // Of shared receives the lock covers its end, too.
    const std::unique_lock lock(engine->mutex());
    engine->close();
    if (srx_)
      engine.reset();
  }
  engine.reset();
  domain_.triggers.abandon(this);
  if (connection_ && eq_ && connection_->subject())
    eq_->forget(connection_->subject()); // what has happened since
  delete this;
  return 0;
}

void Endpoint::tell_what_is_lost() {
  std::size_t waiting;
  {
    const std::lock_guard lock(engine_->mutex());
    if (engine_->delivered())
      return;
    waiting = engine_->promised();
  }
  FI_WARN(
      &provider, FI_LOG_EP_CTRL,
      "endpoint %s: closed before all that was sent had arrived: %zu operations without a "
      "completion still wait here, for receives at their peers where these hold as many "
      "messages as FI_DPDKX_UNEXPECTED_PEER allows, or for peers that make no progress; they may "
      "arrive within a longer FI_DPDKX_LINGER\n",
      to_string(self_).c_str(), waiting);
}

// ---- bindings

int Endpoint::bind(struct fid *other, std::uint64_t flags) {
  if (engine_ && other->fclass != FI_CLASS_CNTR) {
    FI_WARN(&provider, FI_LOG_EP_CTRL,
            "bind: the endpoint is enabled already; allowed from then on: counters\n");
    return -FI_EOPBADSTATE;
  }
  switch (other->fclass) {
  case FI_CLASS_CQ: {
    util_ext::Cq &cq = *util_ext::Cq::from(other);
    return &cq.domain() == &domain_ ? bind_cq(cq, flags) : foreign("completion queue", "domain");
  }
  case FI_CLASS_CNTR: {
    util_ext::Cntr &cntr = *util_ext::Cntr::from(other);
    return &cntr.domain() == &domain_ ? bind_cntr(cntr, flags) : foreign("counter", "domain");
  }
  case FI_CLASS_AV: {
    if (connection_) {
      FI_WARN(&provider, FI_LOG_EP_CTRL,
              "bind: an address vector; allowed for FI_EP_MSG: none, it has one peer\n");
      return -FI_EINVAL;
    }
    util_ext::Av &av = *util_ext::Av::from(other);
    return &av.domain() == &domain_ ? bind_av(av) : foreign("address vector", "domain");
  }
  case FI_CLASS_SRX_CTX: {
    SharedRx &srx = SharedRx::from(other);
    return &srx.domain() == &domain_ ? bind_srx(srx, flags)
                                     : foreign("shared receive context", "domain");
  }
  case FI_CLASS_EQ: {
    util_ext::Eq &eq = *util_ext::Eq::from(other);
    return &eq.fabric() == &domain_.fabric() ? bind_eq(eq) : foreign("event queue", "fabric");
  }
  default:
    FI_WARN(&provider, FI_LOG_EP_CTRL, "bind: objects of class %zu can't be bound\n",
            other->fclass);
    return -FI_EINVAL;
  }
}

int Endpoint::bind_cq(util_ext::Cq &cq, std::uint64_t flags) {
  if (!(flags & (FI_TRANSMIT | FI_RECV)) ||
      flags & ~(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION)) {
    FI_WARN(&provider, FI_LOG_EP_CTRL,
            "bind: CQ with flags %#llx; allowed: FI_TRANSMIT, FI_RECV, FI_SELECTIVE_COMPLETION\n",
            static_cast<unsigned long long>(flags));
    return -FI_EINVAL;
  }
  const bool selective = flags & FI_SELECTIVE_COMPLETION;
  if (((flags & FI_TRANSMIT) && completers_.tx_cq) || ((flags & FI_RECV) && completers_.rx_cq))
    return taken("a completion queue");
  if (flags & FI_TRANSMIT) {
    completers_.tx_cq = &cq;
    selective_tx_ = selective;
    cq.acquire();
  }
  if (flags & FI_RECV) {
    completers_.rx_cq = &cq;
    receives_to_ = srx_ ? nullptr : &cq;
    selective_rx_ = selective;
    cq.acquire();
  }
  return 0;
}

int Endpoint::bind_cntr(util_ext::Cntr &cntr, std::uint64_t flags) {
  std::uint64_t unknown = flags;
  for (const CounterSlot &s : counter_slots) {
    unknown &= ~s.flag;
    if (flags & s.flag && completers_.*s.slot)
      return taken("a counter");
  }
  if (flags == 0 || unknown) {
    FI_WARN(&provider, FI_LOG_EP_CTRL,
            "bind: counter with flags %#llx; allowed: FI_SEND, FI_RECV, FI_READ, FI_WRITE, "
            "FI_REMOTE_READ, FI_REMOTE_WRITE\n",
            static_cast<unsigned long long>(flags));
    return -FI_EINVAL;
  }
  cntrs_.emplace_back(cntr);
  std::unique_lock<BurstLock> lock; // of an enabled endpoint operations may end meanwhile
  if (engine_)
    lock = std::unique_lock(engine_->mutex());
  for (const CounterSlot &s : counter_slots)
    if (flags & s.flag)
      completers_.*s.slot = &cntr;
  return 0;
}

int Endpoint::bind_av(util_ext::Av &av) {
  if (av_)
    return taken("an address vector");
  av.add_listener(*this);
  av_ = &av;
  completers_.av = &av;
  return 0;
}

int Endpoint::bind_eq(util_ext::Eq &eq) {
  if (eq_)
    return taken("an event queue");
  eq_ = util_ext::Hold(eq);
  return 0;
}

int Endpoint::bind_srx(SharedRx &srx, std::uint64_t flags) {
  if (srx_)
    return taken("a shared receive context");
  if (flags)
    return -FI_EINVAL;
  srx_ = util_ext::Hold(srx);
  receives_to_ = nullptr;
  return 0;
}

int Endpoint::check_bindings() const {
  if (shares_rx_ && !srx_) {
    FI_WARN(&provider, FI_LOG_EP_CTRL,
            "enable: rx_ctx_cnt is FI_SHARED_CONTEXT, and no shared receive context is bound\n");
    return -FI_EOPBADSTATE;
  }
  // An endpoint that peers access, and no more, completes nothing.
  constexpr std::uint64_t initiates = FI_SEND | FI_READ | FI_WRITE;
  const bool all = !(caps_ & (initiates | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE));
  const char *missing = !completers_.tx_cq && (all || caps_ & initiates) ? "FI_TRANSMIT"
                        : !completers_.rx_cq && (all || caps_ & FI_RECV) ? "FI_RECV"
                                                                         : nullptr;
  if (missing) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "enable: no completion queue is bound with %s\n", missing);
    return -FI_ENOCQ;
  }
  if (!av_ && !connection_) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "enable: no address vector is bound\n");
    return -FI_ENOAV;
  }
  return 0;
}

// ---- the engine

int Endpoint::enable() {
  if (engine_) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "enable: the endpoint is enabled already\n");
    return -FI_EOPBADSTATE;
  }
  if (const int rc = check_bindings())
    return rc;
  if (const int rc = open_links())
    return rc;
  const engine::AddressBook &book = *this;
  auto engine = std::make_unique<engine::Endpoint>(engine_config(), SystemClock::instance(), self_,
                                                   std::move(links_), book, completers_);
  datagram_limit_ = engine->max_datagram();
  if (!srx_)
    engine->set_min_multi_recv(min_multi_recv_);
  if (connection_)
    if (const int rc = engine->set_connection(*connection_))
      return rc;
  if (srx_)
    srx_->join(*engine, selective_rx_);
  {
    const std::lock_guard lock(engine_guard_);
    engine_ = std::move(engine);
  }
  domain_.start(*engine_);
  if (connection_)
    domain_.fabric().enter(domain_);
  return 0;
}

int Endpoint::open_links() {
  if (linked_)
    return 0;
  if (const int rc = dpdkx::open_links(domain_.settings(), domain_.device(), source_,
                                       traffic_class_, links_, self_))
    return rc;
  linked_ = true;
  FI_INFO(&provider, FI_LOG_EP_CTRL, "endpoint at %s\n", to_string(self_).c_str());
  return 0;
}

engine::Config Endpoint::engine_config() const {
  engine::Config config = domain_.settings().engine;
  config.tx_size = tx_size_;
  config.rx_size = rx_size_;
  config.inject_size = inject_size_;
  config.session.key = key_;
  config.one_thread = domain_.one_thread();
  config.datagrams = type_ == FI_EP_DGRAM;
  return config;
}

void Endpoint::address_added(fi_addr_t index, const util_ext::SockAddr &address) {
  const std::lock_guard guard(engine_guard_);
  if (!engine_)
    return;
  {
    const std::lock_guard lock(engine_->mutex());
    engine_->address_added(index, to_address(address));
  }
  domain_.posted(*engine_);
}

void Endpoint::address_removed(fi_addr_t index, const util_ext::SockAddr &) {
  const std::lock_guard guard(engine_guard_);
  if (!engine_)
    return;
  const std::lock_guard lock(engine_->mutex());
  engine_->address_removed(index);
}

bool Endpoint::lookup(fi_addr_t index, Address &out) const {
  const util_ext::SockAddr *address = av_ ? av_->lookup(index) : nullptr;
  if (address)
    out = to_address(*address);
  return address != nullptr;
}

fi_addr_t Endpoint::reverse(const Address &address) const {
  return av_ ? av_->reverse(to_sockaddr(address)) : FI_ADDR_NOTAVAIL;
}

// ---- calls that can't be made

ssize_t Endpoint::refuse(std::uint64_t direction) const {
  if (!engine_) {
    FI_WARN(&provider, FI_LOG_EP_DATA, "the endpoint is not enabled\n");
    return -FI_EOPBADSTATE;
  }
  if (direction == FI_RECV && srx_) {
    FI_WARN(&provider, FI_LOG_EP_DATA,
            "receives are posted to the shared receive context that the endpoint is bound to\n");
    return -FI_EOPNOTSUPP;
  }
  FI_WARN(&provider, FI_LOG_EP_DATA, "no completion queue is bound with %s\n",
          direction == FI_SEND ? "FI_TRANSMIT" : "FI_RECV");
  return -FI_EOPNOTSUPP;
}

ssize_t Endpoint::refuse_right(std::uint64_t given) const {
  FI_WARN(&provider, FI_LOG_EP_DATA, "the endpoint was opened without %s\n",
          given & FI_READ ? "FI_READ" : "FI_WRITE");
  return -FI_EOPNOTSUPP;
}

ssize_t Endpoint::refuse_length(std::size_t len, std::size_t limit) const {
  const bool injected = len <= limit;
  FI_WARN(&provider, FI_LOG_EP_DATA, "%zu bytes; allowed%s: %zu\n", len,
          injected ? " with FI_INJECT (FI_DPDKX_INJECT_SIZE)" : "",
          injected ? inject_size_ : limit);
  return -FI_EMSGSIZE;
}

ssize_t Endpoint::refuse_vector(std::size_t count) const {
  FI_WARN(&provider, FI_LOG_EP_DATA,
          "a vector of %zu entries is null, too long, or of too many bytes; allowed: %zu entries\n",
          count, op::max_iov);
  return -FI_EINVAL;
}

ssize_t Endpoint::refuse_targets(std::size_t count) const {
  FI_WARN(&provider, FI_LOG_EP_DATA,
          "%zu targets are null, too many, of too many bytes, or reach beyond the last address; "
          "allowed: %zu targets\n",
          count, op::max_targets);
  return -FI_EINVAL;
}

ssize_t Endpoint::refuse_sums(std::size_t local, std::size_t remote) const {
  FI_WARN(&provider, FI_LOG_EP_DATA, "%zu bytes here for %zu bytes of the peer; allowed: equal\n",
          local, remote);
  return -FI_EINVAL;
}

int Endpoint::cancel(const void *context) {
  if (!engine_)
    return -FI_EOPBADSTATE;
  int rc;
  {
    const std::lock_guard lock(engine_->mutex());
    rc = engine_->cancel(context);
  }
  domain_.posted(*engine_);
  return rc == -FI_ENOENT ? domain_.triggers.withdraw(this, context) : rc;
}

void Endpoint::report_failure(const op::ReceiveRequest &request, void *context,
                              int error) noexcept {
  if (completers_.rx_cq)
    completers_.rx_cq->write_error(
        {.entry = {.op_context = context,
                   .flags = FI_RECV | (request.flags & (FI_MSG | FI_TAGGED)),
                   .tag = request.tag},
         .err = error,
         .prov_errno = error});
  if (completers_.rx_cntr)
    completers_.rx_cntr->add_error(1);
}

} // namespace dpdkx

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An endpoint as libfabric's users see it: what it is bound to, its address,
// and between bind and close the engine that does the work.
//
// Applications hold handles: the endpoint's own, and its aliases (fi_ep_alias),
// which differ in their default flags only.
//
// Files: ep.cpp life and bindings, ep_cm.cpp names and groups, ep_connection.cpp connections,
// ep_options.cpp options, flags, aliases, ep_messages.cpp, ep_rma.cpp, ep_atomic.cpp and ep_data.h
// the data calls.
#pragma once

#include "dpdkx/address_format.h"
#include "dpdkx/domain.h"
#include "dpdkx/ep_connection.h"
#include "dpdkx/op/deferred.h"
#include "dpdkx/op_flags.h"
#include "dpdkx/srx.h"
#include "util_ext/av.h"
#include "util_ext/cntr.h"
#include "util_ext/cq.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace dpdkx {

class Endpoint;

// Of an endpoint of type FI_EP_DGRAM.
struct DatagramRequest : op::SendRequest {};

struct EndpointHandle final : fid_ep {
  EndpointHandle(Endpoint &, void *context);
  static EndpointHandle &from(fid_ep *f) { return *static_cast<EndpointHandle *>(f); }
  static EndpointHandle &from(struct fid *f) { return from(reinterpret_cast<fid_ep *>(f)); }
  static bool is(const fid_ep *);

  fi_addr_t source(fi_addr_t src) const { return src | any_source; } // as the endpoint's

  // The application's defaults have changed, or the endpoint's bindings.
  void update_flags();

  Endpoint &endpoint;
  const fi_addr_t any_source; // FI_ADDR_UNSPEC, which is all ones, or zeros
  std::uint64_t tx_defaults, rx_defaults;
  // What calls without flags pass on, FI_MSG, FI_TAGGED, FI_RMA or FI_ATOMIC apart.
  std::uint64_t send_flags = 0, recv_flags = 0, trecv_flags = 0;
  std::uint64_t write_flags = 0, read_flags = 0, fetch_flags = 0;
};

class Endpoint final : private util_ext::AvListener, private engine::AddressBook {
public:
  static int open(Domain &, const fi_info *, fid_ep **, void *context);
  virtual ~Endpoint();
  int bind(struct fid *, std::uint64_t flags);
  int enable();
  int close(EndpointHandle *);

  // Names, in the format of the fi_info.
  int set_name(const void *, std::size_t len);
  int get_name(void *, std::size_t *len);

  // Connections: FI_EP_MSG only.
  int connect(EndpointHandle &, const void *addr, const void *data, std::size_t len);
  int accept(EndpointHandle &, const void *data, std::size_t len);
  int shutdown();
  int get_peer(void *, std::size_t *len);
  bool connects() const { return connection_ != nullptr; }

  // Groups of IP: FI_EP_DGRAM with FI_MULTICAST.
  int read_group(const void *address, Address &) const; // 0, or why it can join none, told
  int join(const Address &group, bool sends, bool receives, fi_addr_t &dest);
  void leave(fi_addr_t dest);
  util_ext::Eq *event_queue() const { return eq_ ? &*eq_ : nullptr; }

  int set_option(int name, const void *value, std::size_t len);
  int get_option(int name, void *value, std::size_t *len);
  int alias(EndpointHandle &of, std::uint64_t flags, struct fid **);
  int set_default_flags(EndpointHandle &, std::uint64_t flags);
  int cancel(const void *context);

  // Requests are checked against the endpoint's limits. 0, or why not, logged.
  ssize_t check(const op::SendRequest &) const;
  ssize_t check(const DatagramRequest &) const;
  ssize_t check(const op::ReceiveRequest &) const;
  ssize_t check(const op::RmaRequest &) const;
  ssize_t check(const op::AtomicRequest &) const;
  ssize_t check(const op::CounterRequest &) const;
  // The data path, with these checks.
  ssize_t send(const op::SendRequest &);
  ssize_t send_datagram(const DatagramRequest &);
  ssize_t receive(const op::ReceiveRequest &);
  ssize_t rma(const op::RmaRequest &);
  ssize_t atomic(const op::AtomicRequest &);
  ssize_t count(const op::CounterRequest &);
  // Why a data call can't be made: logged, and a negative FI_E*.
  ssize_t refuse(std::uint64_t direction) const;
  ssize_t refuse_right(std::uint64_t flags) const;
  ssize_t refuse_length(std::size_t len, std::size_t limit) const; // or that of FI_INJECT
  ssize_t refuse_vector(std::size_t count) const;
  ssize_t refuse_targets(std::size_t count) const;
  ssize_t refuse_sums(std::size_t local, std::size_t remote) const;
  // Works that name the endpoint, and have not begun: it stays open for them.
  void work_queued() { works_.add(); }
  void work_gone() { works_.drop(); }
  // Tells of an operation that was to begin later, and could not.
  template <class Request>
  void report_failure(const Request &request, void *context, int error) noexcept {
    std::size_t len = 0;
    if constexpr (requires { request.len; })
      len = request.len;
    op::report_send(completers_, request.flags & ~op::deferred_work, context, len, error);
  }
  void report_failure(const op::ReceiveRequest &, void *context, int error) noexcept;
  Domain &domain() const { return domain_; }
  bool datagrams() const { return type_ == FI_EP_DGRAM; }
  bool may(std::uint64_t caps) const { return (caps_ & caps) == caps; }
  // The source to receive from: without FI_DIRECTED_RECV, or with one peer only, it does not count.
  fi_addr_t source(fi_addr_t src) const {
    return caps_ & FI_DIRECTED_RECV && !connection_ ? src : FI_ADDR_UNSPEC;
  }
  bool selective_send() const { return selective_tx_; }
  bool selective_receive() const { return selective_rx_; }

private:
  Endpoint(Domain &, const fi_info &, const Address &source, EpConnection::Origin);
  friend struct EndpointHandle;

  // To the engine, what completes with FI_TRANSMIT.
  ssize_t check_transmit(std::size_t len, std::uint64_t flags, std::size_t limit) const;
  template <auto Call, class Request> ssize_t transmit(const Request &);

  void tell_what_is_lost();
  int bind_cq(util_ext::Cq &, std::uint64_t flags);
  int bind_cntr(util_ext::Cntr &, std::uint64_t flags);
  int bind_av(util_ext::Av &);
  int bind_eq(util_ext::Eq &);
  int bind_srx(SharedRx &, std::uint64_t flags);
  int check_bindings() const;
  int prepare_connection(EndpointHandle &, const void *data, std::size_t len);

  int open_links(); // unless they are open
  engine::Config engine_config() const;

  // util_ext::AvListener
  void address_added(fi_addr_t, const util_ext::SockAddr &) override;
  void address_removed(fi_addr_t, const util_ext::SockAddr &) override;
  // engine::AddressBook
  bool lookup(fi_addr_t, Address &) const override;
  fi_addr_t reverse(const Address &) const override;

  Domain &domain_;
  op::Completers completers_;                // the engine reads them here
  std::unique_ptr<engine::Endpoint> engine_; // from enable on; see engine_guard_
  std::size_t inject_size_;
  std::uint64_t caps_;
  const fi_ep_type type_;
  std::size_t datagram_limit_ = 0; // FI_EP_DGRAM, from enable on
  bool selective_tx_ = false, selective_rx_ = false;
  util_ext::Cq *receives_to_ = nullptr; // rx_cq, where receives are posted to the endpoint itself

  const std::uint32_t format_; // of addresses
  const std::size_t tx_size_, rx_size_;
  const std::uint64_t tx_op_flags_, rx_op_flags_;
  const bool shares_rx_;
  const std::uint32_t traffic_class_;
  wire::KeyDigest key_;
  std::size_t min_multi_recv_ = 64;
  int peer_to_peer_ = FI_HMEM_P2P_ENABLED; // FI_OPT_FI_HMEM_P2P

  std::vector<util_ext::Hold<util_ext::Cntr>> cntrs_;
  util_ext::Av *av_ = nullptr;
  util_ext::Hold<util_ext::Eq> eq_;
  util_ext::Hold<SharedRx> srx_;

  std::unique_ptr<EpConnection> connection_; // null: it needs none
  Address source_;                           // asked for: any address, port 0: to be chosen
  Address self_;                             // once links_ is open
  engine::Links links_;                      // from their opening to enable
  bool linked_ = false;

  std::atomic<std::uint32_t> handles_{0}, groups_{0};
  util_ext::UseCount works_;
  // Held when engine_ comes or goes, and while the AV tells of changes: the one
  // call that an application may make at the same time from elsewhere.
  std::mutex engine_guard_;
};

inline constexpr std::size_t max_message = SIZE_MAX / 2;

// Ops of the calls in the other files.
// What an endpoint with these capabilities has, modifiers included.
fi_ops_msg *msg_ops(std::uint64_t caps, bool datagrams);
fi_ops_tagged *tagged_ops(std::uint64_t caps);
extern fi_ops_rma rma_ops;
extern fi_ops_atomic atomic_ops;
extern fi_ops_cm cm_ops, connected_cm_ops, multicast_cm_ops;
extern fi_ops_ep ep_ops;
int control(struct fid *, int command, void *arg);
inline bool EndpointHandle::is(const fid_ep *f) {
  return f && f->fid.fclass == FI_CLASS_EP && f->fid.ops->control == control;
}
int query_atomic(fid_domain *, fi_datatype, fi_op, fi_atomic_attr *, std::uint64_t flags);

} // namespace dpdkx

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// From the flags that an application gives, with a call or once for all, to
// those of a request (op/request.h): fi_endpoint(3), "Operation flags".
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>

#include <cstdint>
#include <initializer_list>

namespace dpdkx::flags {

inline constexpr std::uint64_t levels =
    FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE;

// Defaults that an endpoint may have.
inline constexpr std::uint64_t tx_defaults = FI_COMPLETION | FI_INJECT | FI_TRIGGER | levels;
inline constexpr std::uint64_t rx_defaults = FI_COMPLETION | FI_MULTI_RECV | FI_TRIGGER;

// What calls with a flags argument take.
inline constexpr std::uint64_t sendmsg = tx_defaults | FI_REMOTE_CQ_DATA | FI_FENCE | FI_MORE;
inline constexpr std::uint64_t recvmsg = rx_defaults | FI_MORE;
inline constexpr std::uint64_t trecvmsg =
    FI_COMPLETION | FI_TRIGGER | FI_MORE | FI_PEEK | FI_CLAIM | FI_DISCARD;

// Of an endpoint for datagrams: nobody tells what has become of them.
inline constexpr std::uint64_t dgram_tx_defaults =
    FI_COMPLETION | FI_INJECT | FI_TRIGGER | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE;
inline constexpr std::uint64_t dgram_sendmsg =
    dgram_tx_defaults | FI_REMOTE_CQ_DATA | FI_MORE | FI_MULTICAST; // the last on a device only

// The same of fi_rma(3) and fi_atomic(3): there is no receive that they could match. Whatever level
// a read asks for, it has with its data.
inline constexpr std::uint64_t readmsg = FI_COMPLETION | FI_TRIGGER | FI_INJECT_COMPLETE |
                                         FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_FENCE |
                                         FI_MORE;
inline constexpr std::uint64_t writemsg = readmsg | FI_INJECT | FI_REMOTE_CQ_DATA;
inline constexpr std::uint64_t fetchmsg = readmsg | FI_INJECT; // which is about operands

// Of a counter of a peer: it has no operand that could be injected, and is over when it is done, or
// with FI_TRANSMIT_COMPLETE when it has left.
inline constexpr std::uint64_t counting =
    FI_COMPLETION | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_FENCE | FI_MORE;

// Logs which of them are not allowed, and what is: -FI_EOPNOTSUPP for what exists in libfabric and
// not here, else -FI_EINVAL.
int refuse(std::uint64_t given, std::uint64_t allowed) noexcept;

inline int check(std::uint64_t given, std::uint64_t allowed) {
  return given & ~allowed ? refuse(given, allowed) : 0;
}

// The same; with FI_TAGGED the target is a receive buffer, which is nowhere supported.
int check_atomic(std::uint64_t given, std::uint64_t allowed) noexcept;

// The most that was asked for, as one bit.
constexpr std::uint64_t strongest_level(std::uint64_t given) {
  for (const std::uint64_t level :
       {FI_MATCH_COMPLETE, FI_DELIVERY_COMPLETE, FI_TRANSMIT_COMPLETE, FI_INJECT_COMPLETE})
    if (given & level)
      return level;
  return 0;
}

// `given`: of the call, or the endpoint's defaults. `selective`: the CQ was
// bound with FI_SELECTIVE_COMPLETION. None adds FI_MSG, FI_TAGGED, FI_RMA or FI_ATOMIC.
constexpr std::uint64_t of_send(std::uint64_t given, bool selective) {
  return (given & ~levels) | strongest_level(given) | (selective ? 0 : FI_COMPLETION);
}

constexpr std::uint64_t of_write(std::uint64_t given, bool selective) {
  const std::uint64_t flags = of_send(given, selective);
  return flags & FI_MATCH_COMPLETE ? (flags & ~levels) | FI_DELIVERY_COMPLETE : flags;
}

constexpr std::uint64_t of_fetch(std::uint64_t given, bool selective) {
  return of_send(given & ~levels, selective);
}

constexpr std::uint64_t of_read(std::uint64_t given, bool selective) {
  return of_fetch(given & ~FI_INJECT, selective);
}

constexpr std::uint64_t of_receive(std::uint64_t given, bool selective) {
  // Who peeks asks a question: the answer is a completion.
  return given | (selective && !(given & FI_PEEK) ? 0 : FI_COMPLETION);
}

// A claimed message is named by its context: FI_CLAIM and FI_DISCARD make sense
// only with a peek, or after one.
int check_trecvmsg(std::uint64_t given) noexcept;

} // namespace dpdkx::flags

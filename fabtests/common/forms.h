// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Every way to post the same message: fi_send, fi_sendv, fi_sendmsg, fi_inject, fi_senddata,
// fi_injectdata, and their tagged and receiving counterparts.
#pragma once

#include "endpoint.h"

#include <array>
#include <sys/uio.h>

namespace fabtest {

enum class kind { msg, tagged };

enum class send_form { plain, vector, message, inject, data, inject_data };
enum class recv_form { plain, vector, message };

inline constexpr std::array all_send_forms{send_form::plain,   send_form::vector,
                                           send_form::message, send_form::inject,
                                           send_form::data,    send_form::inject_data};
inline constexpr std::array all_recv_forms{recv_form::plain, recv_form::vector, recv_form::message};

constexpr bool is_inject(send_form f) {
  return f == send_form::inject || f == send_form::inject_data;
}
constexpr bool carries_data(send_form f) {
  return f == send_form::data || f == send_form::inject_data;
}
std::string_view name_of_form(send_form f);
std::string_view name_of_form(recv_form f);

// What goes with the bytes. A tag is unused by kind::msg; data by forms that carry none.
struct envelope {
  std::uint64_t tag = 0;
  std::uint64_t ignore = 0;
  std::uint64_t data = 0;
  fi_addr_t from = FI_ADDR_UNSPEC;
};

void post_send(endpoint &e, kind k, send_form form, int to, std::span<const std::byte> bytes,
               const envelope &env, op &o, where at = where::current());
void post_recv(endpoint &e, kind k, recv_form form, std::span<std::byte> into, const envelope &env,
               op &o, where at = where::current());

// Receives the one message with this tag, which is payload(len, tag).
void receive_payload(endpoint &e, std::uint64_t tag, std::size_t len, where at = where::current());

// As sendmsg/recvmsg with these flags.
void post_sendmsg(endpoint &e, kind k, std::span<const iovec> iov, fi_addr_t to,
                  const envelope &env, op &o, std::uint64_t flags, where at = where::current());
void post_recvmsg(endpoint &e, kind k, std::span<const iovec> iov, const envelope &env, op &o,
                  std::uint64_t flags, where at = where::current());

// Cuts a buffer into so many pieces at random places; some are empty.
std::vector<iovec> cut(std::span<const std::byte> buffer, std::size_t pieces,
                       random_source &random);

// The flags that a completion must carry (fi_cq(3)): FI_SEND or FI_RECV, FI_MSG or FI_TAGGED.
void check_send_flags(const completion &c, kind k, where at = where::current());
void check_recv(const completion &c, kind k, std::size_t len, const envelope &env, bool with_data,
                where at = where::current());

} // namespace fabtest

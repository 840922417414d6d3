// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "forms.h"

#include <algorithm>

namespace fabtest {

namespace {

iovec to_iov(std::span<const std::byte> s) { return {const_cast<std::byte *>(s.data()), s.size()}; }

fi_msg_tagged tagged_message(std::span<const iovec> iov, fi_addr_t address, const envelope &env,
                             op &o) {
  fi_msg_tagged m{};
  m.msg_iov = iov.data();
  m.iov_count = iov.size();
  m.addr = address;
  m.tag = env.tag;
  m.ignore = env.ignore;
  m.context = &o;
  m.data = env.data;
  return m;
}

fi_msg plain_message(std::span<const iovec> iov, fi_addr_t address, const envelope &env, op &o) {
  fi_msg m{};
  m.msg_iov = iov.data();
  m.iov_count = iov.size();
  m.addr = address;
  m.context = &o;
  m.data = env.data;
  return m;
}

ssize_t try_send(fid_ep *ep, send_form form, fi_addr_t to, const iovec &v, const envelope &env,
                 op &o) {
  const fi_msg m = plain_message({&v, 1}, to, env, o);
  switch (form) {
  case send_form::plain:
    return fi_send(ep, v.iov_base, v.iov_len, nullptr, to, &o);
  case send_form::vector:
    return fi_sendv(ep, &v, nullptr, 1, to, &o);
  case send_form::message:
    return fi_sendmsg(ep, &m, FI_COMPLETION);
  case send_form::inject:
    return fi_inject(ep, v.iov_base, v.iov_len, to);
  case send_form::data:
    return fi_senddata(ep, v.iov_base, v.iov_len, nullptr, env.data, to, &o);
  case send_form::inject_data:
    return fi_injectdata(ep, v.iov_base, v.iov_len, env.data, to);
  }
  return -FI_EINVAL;
}

ssize_t try_tsend(fid_ep *ep, send_form form, fi_addr_t to, const iovec &v, const envelope &env,
                  op &o) {
  const fi_msg_tagged m = tagged_message({&v, 1}, to, env, o);
  void *const buf = v.iov_base;
  const std::size_t len = v.iov_len;
  switch (form) {
  case send_form::plain:
    return fi_tsend(ep, buf, len, nullptr, to, env.tag, &o);
  case send_form::vector:
    return fi_tsendv(ep, &v, nullptr, 1, to, env.tag, &o);
  case send_form::message:
    return fi_tsendmsg(ep, &m, FI_COMPLETION);
  case send_form::inject:
    return fi_tinject(ep, buf, len, to, env.tag);
  case send_form::data:
    return fi_tsenddata(ep, buf, len, nullptr, env.data, to, env.tag, &o);
  case send_form::inject_data:
    return fi_tinjectdata(ep, buf, len, env.data, to, env.tag);
  }
  return -FI_EINVAL;
}

ssize_t try_recv(fid_ep *ep, recv_form form, const iovec &v, const envelope &env, op &o) {
  const fi_msg m = plain_message({&v, 1}, env.from, env, o);
  switch (form) {
  case recv_form::plain:
    return fi_recv(ep, v.iov_base, v.iov_len, nullptr, env.from, &o);
  case recv_form::vector:
    return fi_recvv(ep, &v, nullptr, 1, env.from, &o);
  case recv_form::message:
    return fi_recvmsg(ep, &m, FI_COMPLETION);
  }
  return -FI_EINVAL;
}

ssize_t try_trecv(fid_ep *ep, recv_form form, const iovec &v, const envelope &env, op &o) {
  const fi_msg_tagged m = tagged_message({&v, 1}, env.from, env, o);
  switch (form) {
  case recv_form::plain:
    return fi_trecv(ep, v.iov_base, v.iov_len, nullptr, env.from, env.tag, env.ignore, &o);
  case recv_form::vector:
    return fi_trecvv(ep, &v, nullptr, 1, env.from, env.tag, env.ignore, &o);
  case recv_form::message:
    return fi_trecvmsg(ep, &m, FI_COMPLETION);
  }
  return -FI_EINVAL;
}

} // namespace

std::string_view name_of_form(send_form f) {
  constexpr std::array names{"send", "sendv", "sendmsg", "inject", "senddata", "injectdata"};
  return names[static_cast<std::size_t>(f)];
}

std::string_view name_of_form(recv_form f) {
  constexpr std::array names{"recv", "recvv", "recvmsg"};
  return names[static_cast<std::size_t>(f)];
}

void post_send(endpoint &e, kind k, send_form form, int to, std::span<const std::byte> bytes,
               const envelope &env, op &o, where at) {
  const iovec v = to_iov(bytes);
  e.post(
      name_of_form(form),
      [&] {
        return k == kind::msg ? try_send(e.ep(), form, e.at(to), v, env, o)
                              : try_tsend(e.ep(), form, e.at(to), v, env, o);
      },
      at);
}

void post_recv(endpoint &e, kind k, recv_form form, std::span<std::byte> into, const envelope &env,
               op &o, where at) {
  const iovec v = to_iov(into);
  e.post(
      name_of_form(form),
      [&] {
        return k == kind::msg ? try_recv(e.ep(), form, v, env, o)
                              : try_trecv(e.ep(), form, v, env, o);
      },
      at);
}

void receive_payload(endpoint &e, std::uint64_t tag, std::size_t len, where at) {
  op o;
  guarded_buffer into(len);
  e.trecv(into.span(), tag, o, 0, FI_ADDR_UNSPEC, at);
  const completion c =
      e.rx().wait_ok(o, fmt::format("receive of {} bytes", len), default_wait(), at);
  check_equal("length of the message", "sent", c.len, len, at);
  verify(into.span(), tag);
  into.check_guards(len);
}

void post_sendmsg(endpoint &e, kind k, std::span<const iovec> iov, fi_addr_t to,
                  const envelope &env, op &o, std::uint64_t flags, where at) {
  const fi_msg m = plain_message(iov, to, env, o);
  const fi_msg_tagged tm = tagged_message(iov, to, env, o);
  e.post(
      "sendmsg",
      [&] {
        return k == kind::msg ? fi_sendmsg(e.ep(), &m, flags) : fi_tsendmsg(e.ep(), &tm, flags);
      },
      at);
}

void post_recvmsg(endpoint &e, kind k, std::span<const iovec> iov, const envelope &env, op &o,
                  std::uint64_t flags, where at) {
  const fi_msg m = plain_message(iov, env.from, env, o);
  const fi_msg_tagged tm = tagged_message(iov, env.from, env, o);
  e.post(
      "recvmsg",
      [&] {
        return k == kind::msg ? fi_recvmsg(e.ep(), &m, flags) : fi_trecvmsg(e.ep(), &tm, flags);
      },
      at);
}

std::vector<iovec> cut(std::span<const std::byte> buffer, std::size_t pieces,
                       random_source &random) {
  std::vector<std::size_t> cuts{0, buffer.size()};
  while (cuts.size() < pieces + 1)
    cuts.push_back(random.below(buffer.size() + 1));
  std::ranges::sort(cuts);
  std::vector<iovec> iov;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
    iov.push_back(to_iov(buffer.subspan(cuts[i], cuts[i + 1] - cuts[i])));
  return iov;
}

void check_send_flags(const completion &c, kind k, where at) {
  const std::uint64_t expected = FI_SEND | (k == kind::msg ? FI_MSG : FI_TAGGED);
  if ((c.flags & (FI_SEND | FI_RECV | FI_MSG | FI_TAGGED)) != expected)
    fail(fmt::format("flags of a send's completion are {:#x}", c.flags), at);
}

void check_recv(const completion &c, kind k, std::size_t len, const envelope &env, bool with_data,
                where at) {
  const std::uint64_t expected = FI_RECV | (k == kind::msg ? FI_MSG : FI_TAGGED);
  if ((c.flags & (FI_SEND | FI_RECV | FI_MSG | FI_TAGGED)) != expected)
    fail(fmt::format("flags of a receive's completion are {:#x}", c.flags), at);
  if (c.len != len)
    fail(fmt::format("{} bytes received, {} sent", c.len, len), at);
  if (k == kind::tagged && c.tag != env.tag)
    fail(fmt::format("tag {:#x} received, {:#x} sent", c.tag, env.tag), at);
  if (with_data != ((c.flags & FI_REMOTE_CQ_DATA) != 0))
    fail(fmt::format("FI_REMOTE_CQ_DATA is wrong in the flags {:#x}", c.flags), at);
  if (with_data && c.data != env.data)
    fail(fmt::format("CQ data {:#x} received, {:#x} sent", c.data, env.data), at);
}

} // namespace fabtest

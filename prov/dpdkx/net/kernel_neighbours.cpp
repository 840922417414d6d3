// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The kernel's neighbours, by rtnetlink(7): /proc has those of IPv4 only.
#include "dpdkx/net/kernel_interface.h"

#include <algorithm>
#include <cstring>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dpdkx::net {

namespace {

class RouteSocket {
public:
  RouteSocket() : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {}
  ~RouteSocket() {
    if (fd_ >= 0)
      close(fd_);
  }
  RouteSocket(const RouteSocket &) = delete;

  bool ask_for_neighbours() {
    struct {
      nlmsghdr header;
      ndmsg body;
    } request{};
    request.header.nlmsg_len = sizeof(request);
    request.header.nlmsg_type = RTM_GETNEIGH;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    return send(fd_, &request, sizeof(request), 0) == sizeof(request);
  }
  // The kernel's messages, as many as fit; 0 and less: none.
  ssize_t read(void *to, std::size_t size) { return recv(fd_, to, size, 0); }

private:
  int fd_;
};

bool read_ip(const rtattr &attribute, std::uint8_t family, Ip &out) {
  const auto *data = static_cast<const std::byte *>(RTA_DATA(&attribute));
  if (family == AF_INET6 && RTA_PAYLOAD(&attribute) == Ip::size) {
    out = Ip::load(data);
    return true;
  }
  std::uint32_t v4;
  if (family != AF_INET || RTA_PAYLOAD(&attribute) != sizeof(v4))
    return false;
  std::memcpy(&v4, data, sizeof(v4));
  out = Ipv4{__builtin_bswap32(v4)};
  return true;
}

bool read_neighbour(const nlmsghdr &message, unsigned interface_index, std::pair<Ip, Mac> &out) {
  if (message.nlmsg_type != RTM_NEWNEIGH || message.nlmsg_len < NLMSG_LENGTH(sizeof(ndmsg)))
    return false;
  const auto &body = *static_cast<const ndmsg *>(NLMSG_DATA(&message));
  if (body.ndm_ifindex != static_cast<int>(interface_index) || !(body.ndm_state & NUD_PERMANENT))
    return false;
  bool has_ip = false, has_mac = false;
  const auto *attribute = reinterpret_cast<const rtattr *>(
      reinterpret_cast<const std::byte *>(&body) + NLMSG_ALIGN(sizeof(ndmsg)));
  auto left = message.nlmsg_len - NLMSG_LENGTH(sizeof(ndmsg));
  for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
    if (attribute->rta_type == NDA_DST)
      has_ip = read_ip(*attribute, body.ndm_family, out.first);
    if (attribute->rta_type == NDA_LLADDR && RTA_PAYLOAD(attribute) == out.second.bytes.size()) {
      out.second = Mac::load(static_cast<const std::byte *>(RTA_DATA(attribute)));
      has_mac = true;
    }
  }
  return has_ip && has_mac;
}

} // namespace

std::vector<std::pair<Ip, Mac>> permanent_neighbours(unsigned interface_index) {
  std::vector<std::pair<Ip, Mac>> found;
  RouteSocket socket;
  if (!socket.ask_for_neighbours())
    return found;
  alignas(nlmsghdr) std::byte block[32768]; // no message is longer
  for (bool more = true; more;) {
    auto size = socket.read(block, sizeof(block));
    more = size > 0;
    auto left = static_cast<unsigned>(std::max<ssize_t>(size, 0));
    const auto *message = reinterpret_cast<const nlmsghdr *>(block);
    for (; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) {
      more = more && message->nlmsg_type != NLMSG_DONE && message->nlmsg_type != NLMSG_ERROR;
      if (std::pair<Ip, Mac> neighbour; read_neighbour(*message, interface_index, neighbour))
        found.push_back(neighbour);
    }
  }
  return found;
}

} // namespace dpdkx::net

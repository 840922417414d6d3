// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What ranks and dpdkxd tell each other over the daemon's socket. A connection
// carries one request. One that attaches stays: it tells of the other's end, and
// a message of one byte wakes who sleeps.
#pragma once

#include "dpdkx/link/ethdev/module.h"
#include "dpdkx/link/host/fork_guard.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace dpdkx::link::daemon {

inline constexpr std::uint32_t protocol_version = 2; // of all below; another layout, another one
inline constexpr std::string_view default_socket = "@dpdkxd";

enum class Ask : std::uint32_t {
  devices = 1, // a Reply, and a DeviceEntry for each
  attach = 2,  // comes with memory; a Reply
  status = 3,  // a Reply, and text in pieces
};

struct Request {
  char magic[8];
  std::uint32_t version;
  std::uint32_t ask; // Ask
  // attach:
  char device[64];     // link name
  std::uint8_t ip[16]; // where the rank wants to be bound; the any address: the device's
  std::uint16_t port;  // not 0
  std::uint8_t has_dscp, dscp;
  std::uint32_t ring_bytes;
  std::uint64_t start;     // first position in both rings
  std::uint16_t bulk_port; // that peers know already; 0: none
  std::uint16_t zero[3];
};
static_assert(sizeof(Request) == 120);

struct Reply {
  char magic[8];
  std::uint32_t version;
  std::int32_t status;        // 0 or negative errno
  std::uint32_t count;        // entries, or bytes of text, that follow
  std::uint32_t max_datagram; // attach: of the device
  std::uint16_t bulk_port;    // attach: the rank's; 0: none
  std::uint8_t takes_joined;  // attach: 1: as Traits say
  std::uint8_t zero;
  char text[196]; // what is wrong
};
static_assert(sizeof(Reply) == 224);

struct DeviceEntry {
  char name[64], driver[32], link_name[64];
  std::uint8_t mac[6];
  std::uint8_t has_pci, prefix;
  std::uint8_t ip[16];
  std::uint64_t bits_per_second;
  std::uint32_t mtu;
  std::int32_t numa_node;
  std::uint32_t pci_domain;
  std::uint8_t pci_bus, pci_device, pci_function, pci_revision;
  std::uint16_t pci_ids[4]; // vendor, device, subsystem's
};
static_assert(sizeof(DeviceEntry) == 216);

inline constexpr std::size_t text_piece = 32 * 1024; // of a status

// A negative errno, as either side may have written one.
inline bool is_error(std::int32_t value) { return value < 0 && value >= -4095; }

Request make_request(Ask);
// What is wrong with a request; null if nothing. `status`: what to answer then.
const char *request_fault(const Request &, std::size_t received, bool with_memory, int &status);
Reply make_reply(int status, std::string_view text = {});
bool is_reply(const Reply &, std::size_t received);
// What is wrong with one that agrees to attach; null if nothing.
const char *attach_reply_fault(const Reply &);

// Text in a field, ended by 0 where there is room for that.
template <std::size_t n> void put_text(char (&field)[n], std::string_view text) {
  text.copy(field, n);
}
// Anybody may have written it, and it goes into logs, where a line is one line: what can't be
// printed is a '?'.
std::string printable(std::string_view);
template <std::size_t n> std::string text_of(const char (&field)[n]) {
  const std::string_view all(field, n);
  return printable(all.substr(0, all.find('\0')));
}

DeviceEntry make_entry(const DeviceInfo &);
const char *entry_fault(const DeviceEntry &); // what is wrong with it; null if nothing
DeviceInfo device_info(const DeviceEntry &);

// The device with that link name; null, with a text that names those there are.
const DeviceInfo *find_device(const std::vector<DeviceInfo> &, const std::string &link_name,
                              std::string &error);

// A socket's name as settings have it, "@name" or "/path": false if it is neither, or too long.
bool is_socket_name(std::string_view);
int connect_to_daemon(std::string_view socket_name, host::Fd &socket); // 0 or negative errno

} // namespace dpdkx::link::daemon

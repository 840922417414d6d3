// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/cpus.h"
#include "dpdkx/daemon/endpoint_text.h"
#include "dpdkx/daemon/options.h"

#include <climits>

namespace dpdkx::daemon {

namespace {

constexpr std::uint64_t KiB = 1u << 10, MiB = 1u << 20, GiB = 1u << 30;
constexpr std::uint64_t us = 1000, ms = 1000 * us, s = 1000 * ms, min = 60 * s;

// Stores the number of a value into the member that a path of members leads to.
template <auto... path, class Place>
bool number_to(Place &place, const SettingValue &value, std::string &) {
  auto &member = (place.*....*path);
  member = static_cast<std::remove_reference_t<decltype(member)>>(value.number);
  return true;
}

template <auto... path, class Place>
bool time_to(Place &place, const SettingValue &value, std::string &) {
  (place.*....*path) = Duration(static_cast<Duration::rep>(value.number));
  return true;
}

template <auto... path>
bool of_daemon(Options &options, const SettingValue &value, std::string &error) {
  return number_to<&Options::config, path...>(options, value, error);
}

template <auto... path>
bool time_of_daemon(Options &options, const SettingValue &value, std::string &error) {
  return time_to<&Options::config, path...>(options, value, error);
}

template <auto... path>
bool of_device(DeviceConfig &device, const SettingValue &value, std::string &error) {
  return number_to<&DeviceConfig::options, path...>(device, value, error);
}

bool store_family(DeviceConfig &device, const SettingValue &value, std::string &) {
  device.request.family = value.number == 0 ? net::Family::v4 : net::Family::v6;
  return true;
}

bool store_resolve_timeout(DeviceConfig &device, const SettingValue &value, std::string &error) {
  return time_to<&DeviceConfig::options, &link::DeviceOptions::resolve_timeout>(device, value,
                                                                                error);
}

// What concerns DPDK as a whole is with each device, as whichever is first decides.
bool store_eal_args(Options &options, const SettingValue &value, std::string &) {
  for (DeviceConfig &device : options.config.devices)
    device.options.eal_args = value.text;
  return true;
}

bool store_huge_pages(Options &options, const SettingValue &value, std::string &) {
  constexpr link::HugePages choices[] = {link::HugePages::where_needed, link::HugePages::always,
                                         link::HugePages::never};
  for (DeviceConfig &device : options.config.devices)
    device.options.huge_pages = choices[value.number];
  return true;
}

bool store_memory(Options &options, const SettingValue &value, std::string &) {
  for (DeviceConfig &device : options.config.devices)
    device.options.memory_mb = static_cast<std::uint32_t>(value.number / MiB);
  return true;
}

bool store_socket(Options &options, const SettingValue &value, std::string &error) {
  options.config.socket = value.text;
  return check_socket(options.config.socket, error);
}

bool store_metrics(Options &options, const SettingValue &value, std::string &error) {
  options.metrics = value.text;
  Address ignored;
  return value.text.empty() || parse_tcp_address(value.text, ignored, error);
}

bool store_log_level(Options &options, const SettingValue &value, std::string &) {
  constexpr LogLevel levels[] = {LogLevel::warn, LogLevel::info, LogLevel::debug};
  options.log_level = levels[value.number];
  return true;
}

bool store_processor(Options &options, const SettingValue &value, std::string &error) {
  SettingValue cpu;
  options.config.processor = -1;
  if (value.text.empty() || value.text == "any")
    return true;
  if (!parse_setting(SettingKind::number, {0, INT_MAX}, value.text, cpu) ||
      !may_run_on(static_cast<int>(cpu.number))) {
    error = "processor: '" + std::string(value.text) +
            "'; allowed: any, or a processor that dpdkxd may use, " + allowed_cpus();
    return false;
  }
  options.config.processor = static_cast<int>(cpu.number);
  return true;
}

// Sorted by what they are about, as the man page is.
constexpr Option table[] = {
    {"device",
     SettingKind::text,
     {},
     "",
     Takes::list,
     false,
     "a device: PCI address, RDMA device, DPDK virtual device, or kernel interface",
     nullptr,
     nullptr},
    {"address",
     SettingKind::text,
     {},
     "",
     Takes::list,
     false,
     "for each device address/prefix[,gateway[,vlan]], IPv4 or IPv6, or '-' where the kernel has "
     "the address",
     nullptr,
     nullptr},
    {"family",
     SettingKind::choice,
     {.choices = "ipv4 ipv6"},
     "ipv4",
     Takes::per_device,
     false,
     "which address is taken where the kernel has both",
     nullptr,
     store_family},
    {"mtu",
     SettingKind::number,
     {.min = net::min_mtu, .max = net::max_mtu, .or_zero = true},
     "0",
     Takes::per_device,
     false,
     "bytes of an IP packet at most; 0: the device's own",
     nullptr,
     of_device<&link::DeviceOptions::mtu>},
    {"rx-queues",
     SettingKind::number,
     {1, link::max_rx_queues},
     "1",
     Takes::per_device,
     false,
     "receive queues that share what no endpoint has a queue of its own for, where it can",
     nullptr,
     of_device<&link::DeviceOptions::rx_queues>},
    {"rule-queues",
     SettingKind::number,
     {0, link::max_rx_queues},
     "0",
     Takes::per_device,
     false,
     "receive queues more, to which rules bring endpoints' packets, where it can",
     nullptr,
     of_device<&link::DeviceOptions::rule_queues>},
    {"neighbors",
     SettingKind::text,
     {},
     "",
     Takes::list,
     false,
     "neighbours that need not be asked for, address=MAC",
     nullptr,
     nullptr},
    {"dscp",
     SettingKind::number,
     {0, 63},
     "0",
     Takes::per_device,
     false,
     "differentiated services code point of packets of ranks that ask for none",
     nullptr,
     of_device<&link::DeviceOptions::dscp>},
    {"mbufs",
     SettingKind::number,
     {.min = link::min_mbufs, .max = 1u << 24, .or_zero = true},
     "0",
     Takes::per_device,
     false,
     "packet buffers of a device; 0: enough for its queues",
     nullptr,
     of_device<&link::DeviceOptions::mbufs>},
    {"rx-descriptors",
     SettingKind::number,
     {.min = link::min_descriptors, .max = link::max_descriptors, .or_zero = true},
     "0",
     Takes::per_device,
     false,
     "length of a device's receive queue; 0: fits the device",
     nullptr,
     of_device<&link::DeviceOptions::rx_descriptors>},
    {"tx-descriptors",
     SettingKind::number,
     {.min = link::min_descriptors, .max = link::max_descriptors, .or_zero = true},
     "0",
     Takes::per_device,
     false,
     "length of a device's send queue; 0: fits the device",
     nullptr,
     of_device<&link::DeviceOptions::tx_descriptors>},
    {"checksum-offload",
     SettingKind::yes_no,
     {},
     "no",
     Takes::per_device,
     false,
     "let the device compute and check UDP checksums, where it can",
     nullptr,
     of_device<&link::DeviceOptions::checksum_offload>},
    {"resolve-timeout",
     SettingKind::duration,
     {10 * ms, 60 * min},
     "10s",
     Takes::per_device,
     false,
     "how long to ask for a neighbour's MAC address",
     nullptr,
     store_resolve_timeout},

    {"eal-args",
     SettingKind::text,
     {},
     "",
     Takes::one,
     false,
     "more arguments for DPDK's start-up, separated by blanks",
     store_eal_args,
     nullptr},
    {"huge-pages",
     SettingKind::choice,
     {.choices = "auto always never"},
     "auto",
     Takes::one,
     false,
     "DPDK's memory in huge pages; auto: if the first device is on PCI",
     store_huge_pages,
     nullptr},
    {"memory",
     SettingKind::size,
     {.min = 16 * MiB, .max = 64 * GiB, .multiple = MiB, .or_zero = true},
     "0",
     Takes::one,
     false,
     "memory for DPDK; 0: 256MiB, or with huge pages as much as needed",
     store_memory,
     nullptr},

    {"socket",
     SettingKind::text,
     {},
     "@dpdkxd",
     Takes::one,
     false,
     "where ranks find it: @NAME in the network namespace, or a path",
     store_socket,
     nullptr},
    {"max-ranks",
     SettingKind::number,
     {1, 1u << 20},
     "1024",
     Takes::one,
     true,
     "endpoints at once, of all users",
     of_daemon<&Config::max_ranks>,
     nullptr},
    {"max-ranks-per-user",
     SettingKind::number,
     {.min = 1, .max = 1u << 20, .or_zero = true},
     "0",
     Takes::one,
     true,
     "endpoints at once of one user, but of root and dpdkxd's own; 0: half of max-ranks",
     of_daemon<&Config::max_ranks_per_user>,
     nullptr},
    {"max-ring",
     SettingKind::size,
     {64 * KiB, GiB},
     "16MiB",
     Takes::one,
     true,
     "shared memory each way that an endpoint may bring",
     of_daemon<&Config::max_ring>,
     nullptr},

    {"check-port",
     SettingKind::number,
     {.min = 1, .max = 65535, .or_zero = true},
     "4797",
     Takes::one,
     false,
     "UDP port of each device at which dpdkx-check of other hosts is answered; 0: none",
     of_daemon<&Config::check_port>,
     nullptr},

    {"processor",
     SettingKind::text,
     {},
     "any",
     Takes::one,
     true,
     "processor that the forwarding thread runs on, a number",
     store_processor,
     nullptr},
    {"sleep-after",
     SettingKind::duration,
     {0, 60 * min},
     "10ms",
     Takes::one,
     true,
     "how long to poll in vain before it sleeps until something comes",
     time_of_daemon<&Config::sleep_after>,
     nullptr},
    {"blind-poll",
     SettingKind::duration,
     {us, s},
     "200us",
     Takes::one,
     true,
     "how often at most a sleeping thread looks at devices that can't wake it; the more rarely the "
     "longer nothing has come",
     time_of_daemon<&Config::blind_poll>,
     nullptr},
    {"acknowledge-after",
     SettingKind::duration,
     {0, 10 * s},
     "20us",
     Takes::one,
     true,
     "a rank that has left packets unread for so long computes: they are acknowledged in its name",
     time_of_daemon<&Config::acknowledge_after>,
     nullptr},

    {"metrics",
     SettingKind::text,
     {},
     "",
     Takes::one,
     false,
     "ADDRESS:PORT of this host alone at which metrics are read over HTTP",
     store_metrics,
     nullptr},
    {"log-level",
     SettingKind::choice,
     {.choices = "warn info debug"},
     "info",
     Takes::one,
     true,
     "how much it tells on standard error",
     store_log_level,
     nullptr},
};

} // namespace

std::span<const Option> all_options() { return table; }

const Option *find_option(std::string_view name) {
  for (const Option &option : table)
    if (name == option.name)
      return &option;
  return nullptr;
}

std::string allowed_of(const Option &option) {
  std::string text = allowed_values(option.kind, option.bounds);
  if (option.kind == SettingKind::duration)
    text += " (with ns, us, ms, s or min)";
  if (option.kind == SettingKind::size)
    text += " (with B, KiB, MiB or GiB)";
  return text;
}

} // namespace dpdkx::daemon

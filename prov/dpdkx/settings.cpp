// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/settings.h"

#include "dpdkx/base/cpus.h"
#include "dpdkx/key_digest.h"
#include "dpdkx/link/daemon/messages.h"
#include "dpdkx/link/daemon/record.h"
#include "dpdkx/net/describe.h"

#include <algorithm>
#include <climits>
#include <rdma/fi_errno.h>

namespace dpdkx {

namespace {

constexpr std::uint64_t KiB = 1u << 10, MiB = 1u << 20, GiB = 1u << 30;
constexpr std::uint64_t us = 1000, ms = 1000 * us, s = 1000 * ms, min = 60 * s;

using Store = bool (*)(Settings &, const SettingValue &, std::string &);

// Stores the number of a value into the member that a path of members leads to.
template <auto... path>
bool number_to(Settings &settings, const SettingValue &value, std::string &) {
  auto &member = (settings.*....*path);
  using Member = std::remove_reference_t<decltype(member)>;
  member = static_cast<Member>(value.number);
  return true;
}

template <auto... path> bool time_to(Settings &settings, const SettingValue &value, std::string &) {
  (settings.*....*path) = Duration(static_cast<Duration::rep>(value.number));
  return true;
}

// Sorted by what they are about, as the man page is.
constexpr Setting table[] = {
    {"device",
     SettingKind::text,
     {},
     "",
     "devices, separated by ';': PCI addresses, DPDK virtual devices, or kernel interfaces; a "
     "process takes the first that is free",
     [](Settings &settings, const SettingValue &value, std::string &error) {
       return net::parse_devices(value.text, settings.devices, error);
     }},
    {"addr",
     SettingKind::text,
     {},
     "",
     "for each device address/prefix[,gateway[,vlan]], IPv4 or IPv6, separated by ';', or '-' "
     "where the kernel has the address",
     [](Settings &settings, const SettingValue &value, std::string &error) {
       return net::parse_addresses(value.text, settings.addresses, error);
     }},
    {"neighbors",
     SettingKind::text,
     {},
     "",
     "neighbours that need not be asked for, address=MAC separated by ';'",
     [](Settings &settings, const SettingValue &value, std::string &error) {
       return net::parse_neighbours(value.text, settings.device_options.neighbours, error);
     }},
    {"daemon",
     SettingKind::text,
     {},
     "@dpdkxd",
     "the socket of dpdkxd, whose devices are used where FI_DPDKX_DEVICE is not set and it runs: "
     "'@name', a path, or 'no'",
     [](Settings &settings, const SettingValue &value, std::string &error) {
       settings.use_daemon = value.text != "no";
       settings.daemon.socket = value.text;
       if (!settings.use_daemon || link::daemon::is_socket_name(value.text))
         return true;
       error = "FI_DPDKX_DAEMON: '" + std::string(value.text) +
               "'; allowed: no, '@' and a name, or a path that begins with '/'";
       return false;
     }},
    {"daemon_ring",
     SettingKind::size,
     {link::daemon::min_ring_bytes, GiB, 1, true},
     "1MiB",
     "memory for what is under way between an endpoint and dpdkxd, each way",
     number_to<&Settings::daemon, &link::DaemonOptions::ring_bytes>},
    {"mtu",
     SettingKind::number,
     {.min = net::min_mtu, .max = net::max_mtu, .or_zero = true},
     "0",
     "bytes of an IP packet at most; 0: the device's own",
     number_to<&Settings::device_options, &link::DeviceOptions::mtu>},
    {"dscp",
     SettingKind::number,
     {0, 63},
     "0",
     "differentiated services code point of packets",
     number_to<&Settings::device_options, &link::DeviceOptions::dscp>},
    {"eal_args",
     SettingKind::text,
     {},
     "",
     "more arguments for DPDK's start-up, separated by blanks",
     [](Settings &settings, const SettingValue &value, std::string &) {
       settings.device_options.eal_args = value.text;
       return true;
     }},
    {"huge_pages",
     SettingKind::choice,
     {.choices = "auto always never"},
     "auto",
     "DPDK's memory in huge pages; auto: for PCI devices",
     [](Settings &settings, const SettingValue &value, std::string &) {
       constexpr link::HugePages choices[] = {link::HugePages::where_needed,
                                              link::HugePages::always, link::HugePages::never};
       settings.device_options.huge_pages = choices[value.number];
       return true;
     }},
    {"memory",
     SettingKind::size,
     {.min = 16 * MiB, .max = 64 * GiB, .multiple = MiB, .or_zero = true},
     "0",
     "memory for DPDK; 0: 256MiB, or with huge pages as much as needed",
     [](Settings &settings, const SettingValue &value, std::string &) {
       settings.device_options.memory_mb = static_cast<std::uint32_t>(value.number / MiB);
       return true;
     }},
    {"mbufs",
     SettingKind::number,
     {.min = link::min_mbufs, .max = 1u << 24, .or_zero = true},
     "0",
     "packet buffers of a device; 0: enough for its queues",
     number_to<&Settings::device_options, &link::DeviceOptions::mbufs>},
    {"rx_descriptors",
     SettingKind::number,
     {.min = link::min_descriptors, .max = link::max_descriptors, .or_zero = true},
     "0",
     "length of a device's receive queue; 0: fits the device",
     number_to<&Settings::device_options, &link::DeviceOptions::rx_descriptors>},
    {"tx_descriptors",
     SettingKind::number,
     {.min = link::min_descriptors, .max = link::max_descriptors, .or_zero = true},
     "0",
     "length of a device's send queue; 0: fits the device",
     number_to<&Settings::device_options, &link::DeviceOptions::tx_descriptors>},
    {"rx_queues",
     SettingKind::number,
     {.min = 1, .max = link::max_rx_queues},
     "1",
     "receive queues of a device that share its traffic, where it can",
     number_to<&Settings::device_options, &link::DeviceOptions::rx_queues>},
    {"checksum_offload",
     SettingKind::yes_no,
     {},
     "no",
     "let the device compute and check UDP checksums, where it can",
     number_to<&Settings::device_options, &link::DeviceOptions::checksum_offload>},
    {"resolve_timeout",
     SettingKind::duration,
     {10 * ms, 60 * min},
     "10s",
     "how long to ask for a neighbour's MAC address",
     time_to<&Settings::device_options, &link::DeviceOptions::resolve_timeout>},
    {"port_range",
     SettingKind::port_range,
     {1, 65535},
     "49152-65535",
     "UDP ports that automatic ones are chosen from",
     [](Settings &settings, const SettingValue &value, std::string &) {
       settings.host.first_port = static_cast<std::uint16_t>(value.number);
       settings.host.last_port = static_cast<std::uint16_t>(value.last);
       return true;
     }},
    {"auth_key",
     SettingKind::text,
     {},
     "",
     "key of the job: endpoints with another key are refused",
     [](Settings &settings, const SettingValue &value, std::string &) {
       settings.engine.session.key = key_digest(std::as_bytes(std::span(value.text)));
       return true;
     }},

    {"rendezvous_size",
     SettingKind::size,
     {64, GiB},
     "64KiB",
     "larger messages over a device go by rendezvous",
     number_to<&Settings::engine, &engine::Config::rendezvous_device>},
    {"host_rendezvous_size",
     SettingKind::size,
     {64, GiB},
     "16KiB",
     "larger messages within the host go by rendezvous",
     number_to<&Settings::engine, &engine::Config::rendezvous_host>},
    {"inject_size",
     SettingKind::size,
     {0, 8 * KiB},
     "1KiB",
     "largest message of fi_inject and FI_INJECT",
     number_to<&Settings::engine, &engine::Config::inject_size>},
    {"tx_size",
     SettingKind::number,
     {16, 1u << 20},
     "1024",
     "sends under way on an endpoint at most; further ones answer -FI_EAGAIN",
     number_to<&Settings::engine, &engine::Config::tx_size>},
    {"rx_size",
     SettingKind::number,
     {16, 1u << 20},
     "8192",
     "receives posted to an endpoint at most; further ones answer -FI_EAGAIN",
     number_to<&Settings::engine, &engine::Config::rx_size>},
    {"unexpected_pool",
     SettingKind::size,
     {MiB, 64 * GiB},
     "64MiB",
     "memory of an endpoint for messages that no receive was posted for",
     number_to<&Settings::engine, &engine::Config::unexpected_pool>},
    {"unexpected_peer",
     SettingKind::size,
     {64 * KiB, 64 * GiB},
     "4MiB",
     "as much of it as one peer may use",
     number_to<&Settings::engine, &engine::Config::unexpected_peer>},
    {"cq_size",
     SettingKind::number,
     {1, 1u << 30},
     "1024",
     "entries of a completion queue whose size the application leaves open",
     number_to<&Settings::cq_size>},
    {"cq_overrun",
     SettingKind::number,
     {0, 1u << 30},
     "4194304",
     "entries kept beyond a completion queue's size; one more is an overrun",
     number_to<&Settings::cq_overrun>},
    {"max_triggered_ops",
     SettingKind::number,
     {0, 1u << 30},
     "0",
     "triggered operations of a domain that have not fired, as some hardware limits them; 0: no "
     "limit",
     number_to<&Settings::max_triggered_ops>},
    {"max_cntrs",
     SettingKind::number,
     {0, 1u << 30},
     "0",
     "counters of a domain; 0: no limit",
     number_to<&Settings::max_cntrs>},
    {"host_ring_size",
     SettingKind::size,
     {32 * KiB, GiB, 1, true},
     "128KiB",
     "memory for data under way from one process of the host to another",
     number_to<&Settings::host, &link::HostOptions::ring_bytes>},
    {"pull",
     SettingKind::yes_no,
     {},
     "yes",
     "read large messages straight from the memory of a process of the host",
     number_to<&Settings::engine, &engine::Config::pull>},
    {"window",
     SettingKind::number,
     {64, 16384, 64},
     "1024",
     "packets to one peer in flight at most",
     number_to<&Settings::engine, &engine::Config::session, &session::Params::window>},
    {"checksum",
     SettingKind::yes_no,
     {},
     "yes",
     "check the content of packets that come over a device",
     number_to<&Settings::engine, &engine::Config::checksum>},

    {"peer_timeout",
     SettingKind::duration,
     {100 * ms, 1440 * min},
     "10s",
     "a peer that gives no sign of life for that long is dead",
     time_to<&Settings::engine, &engine::Config::session, &session::Params::peer_timeout>},
    {"connect_timeout",
     SettingKind::duration,
     {10 * ms, 1440 * min},
     "10s",
     "how long to try an address at which nobody answers",
     time_to<&Settings::engine, &engine::Config::connect_timeout>},
    {"linger",
     SettingKind::duration,
     {0, 1440 * min},
     "10s",
     "how long fi_close waits, and a connection after fi_shutdown, for what was sent to arrive",
     time_to<&Settings::engine, &engine::Config::linger>},
    {"check",
     SettingKind::yes_no,
     {},
     "no",
     "ask a peer that can't be reached over a device what comes through, and tell the cause with "
     "the failure",
     number_to<&Settings::engine, &engine::Config::check>},
    {"listen_backlog",
     SettingKind::number,
     {1, 1u << 20},
     "1024",
     "requests for a connection that wait for fi_accept or fi_reject at a passive endpoint; "
     "further "
     "ones are refused",
     number_to<&Settings::listen_backlog>},

    {"yield",
     SettingKind::number,
     {0, 1u << 30},
     "0",
     "turns in a row that find nothing to do before the processor is given to others; 0: adapts "
     "to how many want it",
     number_to<&Settings::engine, &engine::Config::yield_after>},
    {"service_tick",
     SettingKind::duration,
     {ms, 10 * s},
     "100ms",
     "with a device: how often a thread answers peers while the application computes",
     time_to<&Settings::service_tick>},
    {"progress_cpu",
     SettingKind::text,
     {},
     "",
     "processor that FI_PROGRESS_AUTO's threads run on, a number",
     [](Settings &settings, const SettingValue &value, std::string &error) {
       SettingValue cpu;
       settings.progress_cpu = -1;
       if (value.text.empty())
         return true;
       if (!parse_setting(SettingKind::number, {0, INT_MAX}, value.text, cpu) ||
           !may_run_on(static_cast<int>(cpu.number))) {
         error = "FI_DPDKX_PROGRESS_CPU: '" + std::string(value.text) +
                 "'; allowed: a processor that this process may use, " + allowed_cpus();
         return false;
       }
       settings.progress_cpu = static_cast<int>(cpu.number);
       return true;
     }},
    {"offer",
     SettingKind::yes_no,
     {},
     "no",
     "answer fi_getinfo also where neither FI_PROVIDER nor the application names dpdkx",
     number_to<&Settings::offer>},
};

} // namespace

std::span<const Setting> all_settings() { return table; }

std::string environment_name(const Setting &setting) {
  std::string name = "FI_DPDKX_";
  for (const char *c = setting.name; *c; ++c)
    name += *c >= 'a' && *c <= 'z' ? static_cast<char>(*c & ~0x20) : *c;
  return name;
}

std::vector<link::DeviceRequest> Settings::device_requests(net::Family preferred) const {
  std::vector<link::DeviceRequest> requests;
  for (std::size_t i = 0; i < devices.size(); ++i)
    requests.push_back({devices[i], i < addresses.size() ? addresses[i] : std::nullopt, preferred});
  return requests;
}

namespace {
const char *units_of(SettingKind kind) {
  return kind == SettingKind::duration ? " (with ns, us, ms, s or min)"
         : kind == SettingKind::size   ? " (with B, KiB, MiB or GiB)"
                                       : "";
}

std::string milliseconds(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + "ms";
}

// What is right by itself and can't be had together; empty: nothing.
std::string check_together(const Settings &settings) {
  if (const std::size_t count = settings.devices.size(); settings.addresses.size() > count) {
    const auto &surplus = settings.addresses[count];
    return "FI_DPDKX_ADDR: entry " + std::to_string(count + 1) + ", '" +
           (surplus ? net::to_string(surplus->network) : "-") +
           "', has no device; allowed: one for each entry of FI_DPDKX_DEVICE, which has " +
           std::to_string(count);
  }
  for (const net::DeviceSpec &device : settings.devices)
    if (device.kind == net::DeviceKind::pci &&
        settings.device_options.huge_pages == link::HugePages::never)
      return "FI_DPDKX_HUGE_PAGES: 'never'; allowed for the PCI device '" + device.text +
             "': auto, always";
  // Else a peer that computes looks dead.
  const Duration peer_timeout = settings.engine.session.peer_timeout;
  if (!settings.devices.empty() && settings.service_tick > peer_timeout / 2)
    return "FI_DPDKX_SERVICE_TICK: " + milliseconds(settings.service_tick) +
           "; allowed: at most half of FI_DPDKX_PEER_TIMEOUT, which is " +
           milliseconds(peer_timeout);
  return {};
}

} // namespace

bool read_setting(const Setting &setting, const char *text, SettingValue &value,
                  std::string &error) {
  if (parse_setting(setting.kind, setting.bounds, text, value))
    return true;
  error = environment_name(setting) + ": '" + text +
          "'; allowed: " + allowed_values(setting.kind, setting.bounds) + units_of(setting.kind);
  return false;
}

int read_settings(SettingSource source, Settings &out, std::string &error) {
  out = {};
  for (const Setting &setting : table) {
    const char *text = source(setting);
    SettingValue value;
    if (!read_setting(setting, text ? text : setting.preset, value, error) ||
        !setting.store(out, value, error))
      return -FI_EINVAL;
  }
  error = check_together(out);
  return error.empty() ? 0 : -FI_EINVAL;
}

std::vector<std::string_view> unknown_settings(const char *const *environment) {
  std::vector<std::string_view> found;
  for (; *environment; ++environment) {
    const std::string_view entry = *environment;
    const auto name = entry.substr(0, entry.find('='));
    const auto has_name = [name](const Setting &setting) {
      return environment_name(setting) == name;
    };
    if (name.starts_with("FI_DPDKX_") && std::ranges::none_of(table, has_name))
      found.push_back(entry);
  }
  return found;
}

} // namespace dpdkx

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/dpdk_nic.h"

#include "dpdkx/link/ethdev/eal.h"
#include "dpdkx/link/ethdev/packet_socket.h"
#include "dpdkx/link/ethdev/quiet.h"
#include "dpdkx/link/ethdev/rte_flow_rules.h"
#include "dpdkx/net/frame.h"
#include "dpdkx/net/text.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <net/if.h>
#include <numeric>
#include <rte_dev.h>
#include <rte_errno.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dpdkx::link {

namespace {

// The last word on an argument, ours or the user's: "framesz" of "iface=a,framesz=2048".
std::uint32_t number_argument(std::string_view arguments, std::string_view key,
                              std::uint32_t otherwise) {
  while (!arguments.empty()) {
    auto value = net::cut(arguments, ",");
    if (net::cut(value, "=") == key)
      net::parse_number(value, otherwise);
  }
  return otherwise;
}

std::string packet_arguments(const DeviceRequest &request, const DeviceOptions &options,
                             const net::DeviceDescription &description, std::uint32_t queues) {
  auto text = request.spec.bus_name.empty() ? "iface=" + request.spec.interface : std::string();
  if (!request.spec.arguments.empty())
    text += (text.empty() ? "" : ",") + request.spec.arguments;
  if (queues > 1 && !net::has_argument(text, "qpairs"))
    text += ",qpairs=" + std::to_string(queues);
  if (!net::has_argument(text, "framesz") && !net::has_argument(text, "blocksz")) {
    const RingShape ring = ordinary_ring(description.mtu, options.rx_descriptors);
    text += ",framesz=" + std::to_string(ring.frame) + ",blocksz=" + std::to_string(ring.block);
    if (!net::has_argument(text, "framecnt"))
      text += ",framecnt=" + std::to_string(ring.frames);
  }
  return text;
}

std::string xdp_arguments(const DeviceRequest &request, const net::DeviceDescription &description) {
  auto text = request.spec.bus_name.empty() ? "iface=" + request.spec.interface : std::string();
  if (!request.spec.arguments.empty())
    text += (text.empty() ? "" : ",") + request.spec.arguments;
  if (description.xdp_queues > 1)
    text += ",queue_count=" + std::to_string(description.xdp_queues);
  return text;
}

std::string device_name(const net::DeviceSpec &spec) {
  static std::atomic<unsigned> next{0};
  if (!spec.bus_name.empty())
    return spec.bus_name;
  auto driver = spec.kind == net::DeviceKind::af_xdp ? "net_af_xdp" : "net_af_packet";
  return driver + std::string("_dpdkx") + std::to_string(next++);
}

// The ring of net_af_packet is locked in memory.
constexpr char for_an_interface[] =
    "CAP_NET_RAW, CAP_NET_ADMIN and memory that may be locked (RLIMIT_MEMLOCK)";

// Whether the kernel's interface, if there is one, is promiscuous.
bool is_promiscuous(unsigned interface_index) {
  ifreq interface {};
  if (interface_index == 0 || if_indextoname(interface_index, interface.ifr_name) == nullptr)
    return false;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return false;
  const bool known = ioctl(fd, SIOCGIFFLAGS, &interface) == 0;
  close(fd);
  return known && interface.ifr_flags & IFF_PROMISC;
}

std::string explain_create(const DeviceRequest &request, int rc, const std::string &said) {
  auto text = quoted(request) + "the device can't be opened: " + said;
  if (rc != -EPERM && rc != -EFAULT) // drivers' -1, DPDK's word for it: they say nothing more
    text += std::string(" (") + std::strerror(-rc) + ")";
  switch (request.spec.kind) {
  case net::DeviceKind::pci:
    return text + "; allowed: a PCI device that has a DPDK driver and is bound to vfio-pci (or "
                  "of a kind that DPDK shares with the kernel, such as mlx5)";
  case net::DeviceKind::vdev:
    return text + "; allowed: the name of a DPDK driver with its arguments (net_memif0,"
                  "role=server,id=0)";
  default:
    return text + needs_root_or(for_an_interface);
  }
}

bool is_driver(const std::string &name, std::string_view driver) {
  return name.starts_with(driver);
}

std::uint16_t read_hex(const std::string &path) {
  std::uint32_t value = 0;
  std::ifstream(path) >> std::hex >> value;
  return static_cast<std::uint16_t>(value);
}

PciIdentity pci_identity(const std::string &address) {
  PciIdentity id;
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  std::sscanf(address.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function);
  id.domain = domain;
  id.bus = static_cast<std::uint8_t>(bus);
  id.device = static_cast<std::uint8_t>(device);
  id.function = static_cast<std::uint8_t>(function);
  auto folder = "/sys/bus/pci/devices/" + address + "/";
  id.vendor_id = read_hex(folder + "vendor");
  id.device_id = read_hex(folder + "device");
  id.subsystem_vendor_id = read_hex(folder + "subsystem_vendor");
  id.subsystem_device_id = read_hex(folder + "subsystem_device");
  id.revision = static_cast<std::uint8_t>(read_hex(folder + "revision"));
  return id;
}

} // namespace

DpdkNic::~DpdkNic() {
  if (is_memif_ && created_) {
    // Its driver can't be closed safely while the other end may go too: it would close
    // descriptors twice, which ends in a panic, and never lets go of a server's socket. It
    // ends with the process, and so do its claim and its pool.
    claim_.keep();
    pool_.keep();
    return;
  }
  if (created_) {
    stop();
    Quiet quiet;
    rte_eth_dev_close(id_);
    rte_eal_hotplug_remove(bus_.c_str(), name_.c_str());
  }
}

int DpdkNic::open(const DeviceRequest &request, const DeviceOptions &options,
                  const net::DeviceDescription &description, DeviceInfo &info, std::string &error) {
  if (request.spec.exclusive())
    if (int rc = Claim::take(request.spec.identity(), claim_)) {
      error = quoted(request) + (rc == -EBUSY ? "another process uses it; allowed: a device for "
                                                "each process"
                                              : "it can't be claimed");
      return rc;
    }
  if (request.spec.kind == net::DeviceKind::pci && !eal_has_huge_pages()) {
    error = quoted(request) + "a PCI device needs huge pages, and this process has started DPDK "
                              "without; allowed: FI_DPDKX_HUGE_PAGES=always";
    return -ENOMEM;
  }
  if (int rc = create(request, options, description, error))
    return rc;
  if (int rc = set_up(request, options, description, error))
    return rc;
  tap_.find(description.interface_index); // af_xdp's are there when queues are
  join_groups(description);
  rte_eth_dev_info device{};
  rte_eth_dev_info_get(id_, &device);
  fill(info, device);
  return 0;
}

QueueAbilities DpdkNic::abilities(const rte_eth_dev_info &device,
                                  const net::DeviceDescription &description) const {
  const std::uint64_t udp = description.address.address.is_v4() ? RTE_ETH_RSS_NONFRAG_IPV4_UDP
                                                                : RTE_ETH_RSS_NONFRAG_IPV6_UDP;
  if (is_memif_) // its other end chooses
    return {};
  const bool sockets = frame_room_ != 0 || is_xdp_; // of the kernel, which spreads packets
  return {.most = device.max_rx_queues,
          .by_itself = sockets,
          .rss = (device.flow_type_rss_offloads & udp) == udp,
          .rules = make_test_rules || !sockets};
}

// As the options say, or what comes next to that.
int DpdkNic::set_up(const DeviceRequest &request, const DeviceOptions &options,
                    const net::DeviceDescription &description, std::string &error) {
  Quiet quiet;
  rte_eth_dev_info device{};
  rte_eth_dev_info_get(id_, &device);
  int rc = 0;
  for (const QueuePlan &plan :
       plan_queues(options.rx_queues, options.rule_queues, abilities(device, description))) {
    stop();
    plan_ = plan;
    if ((rc = configure(request, options, description, error)) != 0)
      continue;
    if (!try_start() && !is_memif_) {
      const bool interface = !request.spec.interface.empty();
      error = quoted(request) + "the device can't be started: " + quiet.first_error() +
              (interface ? needs_root_or(for_an_interface) : "");
      rc = interface && geteuid() != 0 ? -EACCES : -EIO;
      continue;
    }
    if (plan.rules == 0 || keep_rules_apart(device, description))
      break;
  }
  return rc;
}

// False: the device knows no rules.
bool DpdkNic::keep_rules_apart(const rte_eth_dev_info &device,
                               const net::DeviceDescription &description) {
  rules_ = make_test_rules ? make_test_rules()
                           : std::make_unique<RteFlowRules>(
                                 id_, !description.address.address.is_v4(), description.vlan != 0);
  if (!rules_->supported()) {
    rules_.reset();
    return false;
  }
  if (plan_.spread != Spread::rss) {
    apart_ = plan_.spread == Spread::none;
    return true;
  }
  std::vector<rte_eth_rss_reta_entry64> table((device.reta_size + RTE_ETH_RETA_GROUP_SIZE - 1u) /
                                              RTE_ETH_RETA_GROUP_SIZE);
  for (unsigned i = 0; i < device.reta_size; ++i) {
    auto &group = table[i / RTE_ETH_RETA_GROUP_SIZE];
    group.mask |= std::uint64_t{1} << i % RTE_ETH_RETA_GROUP_SIZE;
    group.reta[i % RTE_ETH_RETA_GROUP_SIZE] = static_cast<std::uint16_t>(i % plan_.pool);
  }
  apart_ = device.reta_size != 0 &&
           rte_eth_dev_rss_reta_update(id_, table.data(), device.reta_size) == 0;
  return true;
}

int DpdkNic::create(const DeviceRequest &request, const DeviceOptions &options,
                    const net::DeviceDescription &description, std::string &error) {
  const auto &spec = request.spec;
  bus_ = spec.kind == net::DeviceKind::pci ? "pci" : "vdev";
  name_ = device_name(spec);
  const auto queues = options.rx_queues + (make_test_rules ? options.rule_queues : 0);
  auto arguments = spec.kind == net::DeviceKind::af_packet
                       ? packet_arguments(request, options, description, queues)
                   : spec.kind == net::DeviceKind::af_xdp ? xdp_arguments(request, description)
                                                          : spec.arguments;
  if (spec.kind == net::DeviceKind::af_packet)
    frame_room_ = number_argument(arguments, "framesz", 2048);
  is_memif_ = is_driver(name_, "net_memif");
  is_xdp_ = spec.kind == net::DeviceKind::af_xdp;
  is_memif_client_ =
      is_memif_ && ("," + arguments + ",").find(",role=server,") == std::string::npos;
  Quiet quiet;
  if (is_memif_ && rte_eth_dev_get_port_by_name(name_.c_str(), &id_) == 0) {
    error = quoted(request) + "a memif of that name has been open in this process; allowed: once "
                              "a process, as DPDK can't close it";
    return -EBUSY;
  }
  tap_.remember_open_files();
  // A PCI device that DPDK was started for has been probed then.
  if (rte_eth_dev_get_port_by_name(name_.c_str(), &id_) != 0) {
    int rc = rte_eal_hotplug_add(bus_.c_str(), name_.c_str(), arguments.c_str());
    if (rc != 0 && queues > 1 && frame_room_ != 0) { // a kernel without fanout, or taken by another
      arguments = packet_arguments(request, options, description, 1);
      rc = rte_eal_hotplug_add(bus_.c_str(), name_.c_str(), arguments.c_str());
    }
    if (rc == 0)
      rc = rte_eth_dev_get_port_by_name(name_.c_str(), &id_);
    if (rc != 0) {
      error = explain_create(request, rc, quiet.first_error());
      if (rc != -EPERM && rc != -EFAULT)
        return rc;
      return geteuid() != 0 && !spec.interface.empty() ? -EACCES : -ENODEV;
    }
  }
  created_ = true;
  auto room = number_argument(arguments, "bsize", 2048);
  auto frame = description.mtu + net::ethernet_size + (description.vlan ? net::vlan_tag_size : 0);
  if (is_memif_ && room < frame) {
    error = quoted(request) + "bsize=" + std::to_string(room) + " is too small for an MTU of " +
            std::to_string(description.mtu) + "; allowed: bsize=" + std::to_string(frame) +
            " or more, or a smaller FI_DPDKX_MTU";
    return -EMSGSIZE;
  }
  return 0;
}

int DpdkNic::configure(const DeviceRequest &request, const DeviceOptions &options,
                       const net::DeviceDescription &description, std::string &error) {
  Quiet quiet;
  error.clear();
  rte_eth_dev_info device{};
  int rc = rte_eth_dev_info_get(id_, &device);
  rte_eth_conf conf{};
  if (plan_.spread == Spread::rss) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf = description.address.address.is_v4()
                                           ? RTE_ETH_RSS_NONFRAG_IPV4_UDP
                                           : RTE_ETH_RSS_NONFRAG_IPV6_UDP;
  }
  // Virtual drivers know of no jumbo frames, and yet pass them.
  bool any_length = request.spec.kind != net::DeviceKind::pci;
  conf.rxmode.mtu =
      any_length ? std::min<std::uint32_t>(description.mtu, device.max_mtu) : description.mtu;
  if (any_length && device.max_rx_pktlen <= RTE_ETHER_MAX_LEN)
    conf.rxmode.mtu = std::min<std::uint32_t>(conf.rxmode.mtu, RTE_ETHER_MTU);
  if (!any_length && description.mtu > device.max_mtu) {
    error = "FI_DPDKX_MTU: " + std::to_string(description.mtu) + "; allowed for '" +
            request.spec.text + "': at most " + std::to_string(device.max_mtu);
    return -EMSGSIZE;
  }
  if (options.checksum_offload) {
    auto tx = RTE_ETH_TX_OFFLOAD_UDP_CKSUM |
              (description.address.address.is_v4() ? RTE_ETH_TX_OFFLOAD_IPV4_CKSUM : 0);
    constexpr auto rx = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM;
    if ((device.tx_offload_capa & tx) == tx)
      tx_offloads_ = tx;
    conf.rxmode.offloads = device.rx_offload_capa & rx;
  }
  // Every packet is one segment of one pool with one owner.
  tx_offloads_ |= device.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
  conf.txmode.offloads = tx_offloads_;
  error = descriptors_fault("FI_DPDKX_RX_DESCRIPTORS", options.rx_descriptors, request.spec.text,
                            device.rx_desc_lim);
  if (error.empty())
    error = descriptors_fault("FI_DPDKX_TX_DESCRIPTORS", options.tx_descriptors, request.spec.text,
                              device.tx_desc_lim);
  if (!error.empty())
    return -EINVAL;
  if (options.rx_descriptors)
    rx_descriptors_ = static_cast<std::uint16_t>(options.rx_descriptors);
  if (options.tx_descriptors)
    tx_descriptors_ = static_cast<std::uint16_t>(options.tx_descriptors);
  // Some have them in pairs; of those to send the first will do.
  bool pairs = is_xdp_;
  if (rc == 0)
    rc = rte_eth_dev_configure(id_, plan_.total(), pairs ? plan_.total() : 1, &conf);
  if (rc != 0 && plan_.total() > 1 && !std::exchange(pairs, true))
    rc = rte_eth_dev_configure(id_, plan_.total(), plan_.total(), &conf);
  // When it starts, DPDK sets what it believes: also the kernel's interface, for good.
  if (is_promiscuous(description.interface_index))
    rte_eth_promiscuous_enable(id_);
  if (rc == 0)
    rc = rte_eth_dev_adjust_nb_rx_tx_desc(id_, &rx_descriptors_, &tx_descriptors_);
  if (rc == 0 && (rc = make_pool(request, options, description, error)) != 0)
    return rc;
  if (rc == 0)
    rc = add_queues(device, pairs ? plan_.total() : 1);
  if (rc != 0)
    error = quoted(request) + "the device can't be set up: " + quiet.first_error() + " (" +
            std::strerror(-rc) + ")";
  return rc;
}

int DpdkNic::add_queues(const rte_eth_dev_info &device, std::uint16_t tx_queues) {
  const auto socket = static_cast<unsigned>(rte_eth_dev_socket_id(id_));
  int rc = 0;
  for (std::uint16_t queue = 0; queue < plan_.total() && rc == 0; ++queue)
    rc = rte_eth_rx_queue_setup(id_, queue, rx_descriptors_, socket, nullptr, pool_.get());
  auto tx_conf = device.default_txconf;
  tx_conf.offloads = tx_offloads_;
  for (std::uint16_t queue = 0; queue < tx_queues && rc == 0; ++queue)
    rc = rte_eth_tx_queue_setup(id_, queue, tx_descriptors_, socket, &tx_conf);
  return rc;
}

int DpdkNic::make_pool(const DeviceRequest &request, const DeviceOptions &options,
                       const net::DeviceDescription &description, std::string &error) {
  if (pool_.get() != nullptr) // for a plan with more queues
    return 0;
  constexpr std::uint32_t xdp_descriptors = 2048;
  // Drivers that copy hold no packets. Others fill both queues before anything
  // returns: then the rest must still do, or an idle sender starves the receiver.
  // af_xdp's take as many as they can, however long we have them.
  const std::uint32_t in_queue = is_xdp_ ? xdp_descriptors : rx_descriptors_;
  const PacketPool::Plan plan{
      .frame = std::max(description.mtu + net::ethernet_size + net::vlan_tag_size, frame_room_),
      .in_queues = frame_room_ ? 0u : std::uint32_t{plan_.total()} * in_queue + tx_descriptors_,
      .packed = is_xdp_,
      .socket = rte_eth_dev_socket_id(id_)};
  return pool_.open("dpdkx_" + std::to_string(id_), plan, request, options, description.mtu, error);
}

bool DpdkNic::try_start() {
  Quiet quiet;
  control([&] { started_ = started_ || rte_eth_dev_start(id_) == 0; });
  return started_;
}

// A device that can do none of these filters nothing (memif), or fails to be found, which is told
// when nothing answers.
void DpdkNic::take_groups(std::span<const net::Mac> groups) {
  std::vector<rte_ether_addr> list(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i)
    std::copy(groups[i].bytes.begin(), groups[i].bytes.end(), list[i].addr_bytes);
  Quiet quiet;
  if (rte_eth_dev_set_mc_addr_list(id_, list.data(), static_cast<std::uint32_t>(list.size())) !=
          0 &&
      rte_eth_allmulticast_enable(id_) != 0)
    (void)rte_eth_promiscuous_enable(id_);
}

void DpdkNic::take_all_groups() {
  Quiet quiet;
  if (rte_eth_allmulticast_enable(id_) != 0)
    (void)rte_eth_promiscuous_enable(id_);
}

bool DpdkNic::link_is_up() const {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

void DpdkNic::stop() {
  Quiet quiet;
  if (std::exchange(started_, false))
    control([&] { rte_eth_dev_stop(id_); });
}

// memif disconnects on DPDK's interrupt thread when the other end goes, and isn't prepared for
// somebody else doing so at the same time. There, one thing comes after the other.
void DpdkNic::control(const std::function<void()> &call) {
  if (is_memif_)
    on_interrupt_thread(call);
  else
    call();
}

void DpdkNic::reclaim() {
  if (can_reclaim_)
    can_reclaim_ = rte_eth_tx_done_cleanup(id_, 0, 0) >= 0; // many drivers have none
}

void DpdkNic::fill(DeviceInfo &info, const rte_eth_dev_info &device) const {
  info.name = name_;
  info.driver = device.driver_name != nullptr ? device.driver_name : "";
  info.numa_node = rte_eth_dev_socket_id(id_);
  rte_ether_addr mac{};
  if (rte_eth_macaddr_get(id_, &mac) == 0)
    std::memcpy(info.mac.bytes.data(), mac.addr_bytes, sizeof(mac.addr_bytes));
  rte_eth_link link{};
  if (info.bits_per_second == 0 && rte_eth_link_get_nowait(id_, &link) == 0 &&
      link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
    info.bits_per_second = std::uint64_t{link.link_speed} * 1000000;
  if (bus_ == "pci")
    info.pci = pci_identity(name_);
}

std::vector<std::pair<std::string, std::uint64_t>> DpdkNic::statistics() const {
  std::vector<std::pair<std::string, std::uint64_t>> out;
  int n = rte_eth_xstats_get(id_, nullptr, 0);
  std::vector<rte_eth_xstat> values(n > 0 ? static_cast<std::size_t>(n) : 0);
  std::vector<rte_eth_xstat_name> names(values.size());
  auto count = static_cast<unsigned>(values.size());
  if (rte_eth_xstats_get(id_, values.data(), count) != n ||
      rte_eth_xstats_get_names(id_, names.data(), count) != n)
    return out;
  for (const auto &value : values)
    out.emplace_back(names[value.id].name, value.value);
  return out;
}

} // namespace dpdkx::link

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/face/face.h"

#include "dpdkx/address_format.h"
#include "dpdkx/net/kernel_interface.h"
#include "dpdkx/nic.h"
#include "dpdkx/op/request.h"

#include <cstring>
#include <filesystem>
#include <iterator>

#include "unit/unit.h"

using namespace dpdkx;
using face::Environment;
using face::InfoPtr;

namespace {

Address source_of(const fi_info &info) {
  Address address;
  assert_int_equal(read_address(info.addr_format, info.src_addr, info.src_addrlen, address), 0);
  return address;
}

Address dest_of(const fi_info &info) {
  Address address;
  assert_non_null(info.dest_addr);
  assert_int_equal(read_address(info.addr_format, info.dest_addr, info.dest_addrlen, address), 0);
  return address;
}

// What fi_getinfo answers to hints that `change` has been at.
template <class F> int answer(F &&change) {
  const InfoPtr hints = face::named_hints();
  change(*hints);
  int rc;
  face::getinfo(hints.get(), rc);
  return rc;
}

} // namespace

static void getinfo__is_silent_unless_named(void **) {
  int rc;
  assert_null(face::getinfo(nullptr, rc).get());
  assert_int_equal(rc, -FI_ENODATA);
  const InfoPtr hints(fi_allocinfo());
  hints->caps = FI_TAGGED;
  assert_null(face::getinfo(hints.get(), rc).get());
  assert_int_equal(rc, -FI_ENODATA);
  for (const char *filter : {"^dpdkx", "tcp", "dpdk", "dpdkxx,tcp", ""}) {
    const Environment environment{{"FI_PROVIDER", filter}};
    assert_null(face::getinfo(nullptr, rc).get());
  }
}

static void getinfo__answers_when_named(void **) {
  int rc;
  for (const char *filter : {"dpdkx", "tcp,dpdkx", "DPDKX", "dpdkx;ofi_rxm,tcp"}) {
    const Environment environment{{"FI_PROVIDER", filter}};
    assert_non_null(face::getinfo(nullptr, rc).get());
    assert_int_equal(rc, 0);
  }
  assert_non_null(face::getinfo(face::named_hints().get(), rc).get());
  const Environment environment{{"FI_DPDKX_OFFER", "yes"}};
  assert_non_null(face::getinfo(nullptr, rc).get());
}

static InfoPtr hints_of(fi_ep_type type) {
  InfoPtr hints = face::named_hints();
  hints->ep_attr->type = type;
  return hints;
}

// What follows, if anything does, is of another endpoint type.
static bool is_last_of_its_type(const fi_info &info) {
  return !info.next || info.next->ep_attr->type != info.ep_attr->type;
}

static void getinfo__offers_one_domain_without_devices(void **) {
  int rc;
  const InfoPtr info = face::getinfo(hints_of(FI_EP_RDM).get(), rc);
  assert_int_equal(rc, 0);
  assert_true(is_last_of_its_type(*info));
  assert_string_equal(info->domain_attr->name, "host");
  assert_int_equal(info->ep_attr->type, FI_EP_RDM);
  assert_int_equal(info->addr_format, FI_SOCKADDR_IN);
  assert_int_equal(source_of(*info).port, 0);
  assert_false(source_of(*info).is_any());
  assert_null(info->dest_addr);
  assert_int_equal(info->tx_attr->size, 1024);
  assert_int_equal(info->tx_attr->inject_size, 1024);
  assert_int_equal(info->domain_attr->data_progress, FI_PROGRESS_MANUAL);
}

static void getinfo__offers_connected_endpoints_second(void **) {
  int rc;
  const InfoPtr all = face::getinfo(face::named_hints().get(), rc);
  assert_non_null(all->next);
  const fi_info &second = *all->next;
  assert_int_equal(second.ep_attr->type, FI_EP_MSG);
  assert_int_equal(second.next->ep_attr->type, FI_EP_DGRAM);
  assert_string_equal(second.domain_attr->name, all->domain_attr->name);
  assert_int_equal(second.caps & (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC),
                   FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC);
  constexpr std::uint64_t of_many_peers = FI_DIRECTED_RECV | FI_SOURCE | FI_SOURCE_ERR;
  assert_int_equal(second.caps & of_many_peers, 0);
  assert_int_equal(answer([](fi_info &h) { h.ep_attr->type = FI_EP_MSG; }), 0);
  for (const std::uint64_t cap : {FI_DIRECTED_RECV, FI_SOURCE})
    assert_int_equal(answer([cap](fi_info &h) {
                       h.ep_attr->type = FI_EP_MSG;
                       h.caps = FI_MSG | cap;
                     }),
                     -FI_ENODATA);
}

// Utility providers, which would build a second kind of reliable datagrams on them and be listed
// first, get none; but for who has asked for that.
static void getinfo__gives_layers_no_connected_endpoints(void **) {
  constexpr std::uint64_t by_layer = 1ULL << 59;
  const InfoPtr hints = face::named_hints();
  hints->ep_attr->type = FI_EP_MSG;
  int rc;
  for (const char *filter : {"dpdkx", "tcp;ofi_rxm,dpdkx"}) {
    const Environment environment{{"FI_PROVIDER", filter}};
    assert_null(face::getinfo(hints.get(), rc, nullptr, nullptr, by_layer).get());
    assert_int_equal(rc, -FI_ENODATA);
    assert_non_null(face::getinfo(hints.get(), rc).get());
  }
  for (const char *filter : {"dpdkx;ofi_rxm", "tcp,ofi_rxm;dpdkx"}) {
    const Environment environment{{"FI_PROVIDER", filter}};
    assert_non_null(face::getinfo(hints.get(), rc, nullptr, nullptr, by_layer).get());
  }
}

static void getinfo__refuses_what_is_not_there(void **) {
  for (const std::uint64_t cap : {FI_NAMED_RX_CTX, FI_MULTICAST, FI_HMEM, FI_COLLECTIVE,
                                  FI_RMA_EVENT, FI_RMA_PMEM, FI_SHARED_AV})
    assert_int_equal(answer([cap](fi_info &h) { h.caps = FI_MSG | cap; }), -FI_ENODATA);
  assert_int_equal(answer([](fi_info &h) { h.ep_attr->tx_ctx_cnt = 2; }), -FI_ENODATA);
  assert_int_equal(answer([](fi_info &h) { h.rx_attr->iov_limit = 17; }), -FI_ENODATA);
  assert_int_equal(answer([](fi_info &h) { h.tx_attr->rma_iov_limit = 9; }), -FI_ENODATA);
  assert_int_equal(answer([](fi_info &h) { h.tx_attr->op_flags = FI_COMMIT_COMPLETE; }),
                   -FI_ENODATA);
  assert_int_equal(answer([](fi_info &h) { h.tx_attr->inject_size = 1 << 20; }), -FI_ENODATA);
  assert_int_equal(answer([](fi_info &h) { h.addr_format = FI_SOCKADDR_IB; }), -FI_ENODATA);
  assert_int_equal(answer([](fi_info &h) { h.domain_attr->name = strdup("nowhere"); }),
                   -FI_ENODATA);
  assert_int_equal(answer([](fi_info &h) { h.fabric_attr->name = strdup("nowhere"); }),
                   -FI_ENODATA);
}

static void getinfo__offers_datagrams_last(void **) {
  int rc;
  InfoPtr info = face::getinfo(face::named_hints().get(), rc);
  assert_int_equal(info->ep_attr->type, FI_EP_RDM);
  const fi_info *last = info.get();
  while (last->next)
    last = last->next;
  assert_int_equal(last->ep_attr->type, FI_EP_DGRAM);
  assert_string_equal(last->domain_attr->name, "host");
  assert_int_equal(last->caps & ~datagram_caps, 0);
  assert_int_equal(last->tx_attr->msg_order, 0);
  assert_true(last->ep_attr->max_msg_size > 16384);
  assert_true(last->tx_attr->inject_size <= last->ep_attr->max_msg_size);

  // Layered providers get none: they would be listed first.
  constexpr std::uint64_t layered = std::uint64_t{1} << 59;
  info = face::getinfo(hints_of(FI_EP_DGRAM).get(), rc, nullptr, nullptr, layered);
  assert_int_equal(rc, -FI_ENODATA);
  info = face::getinfo(face::named_hints().get(), rc, nullptr, nullptr, layered);
  assert_int_equal(rc, 0);
  assert_null(info->next);
}

static void getinfo__offers_rma_and_atomics(void **) {
  const InfoPtr hints = face::named_hints();
  const auto all = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  hints->caps = FI_RMA | FI_ATOMIC;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_STRICT | FI_ORDER_ATOMIC_WAW;
  hints->ep_attr->max_order_waw_size = 8;
  int rc;
  InfoPtr info = face::getinfo(hints.get(), rc);
  assert_int_equal(rc, 0);
  assert_int_equal(info->caps & (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | all | FI_RMA_EVENT),
                   FI_RMA | FI_ATOMIC | all);
  assert_int_equal(info->tx_attr->caps & all, FI_READ | FI_WRITE);
  assert_int_equal(info->rx_attr->caps & all, FI_REMOTE_READ | FI_REMOTE_WRITE);
  assert_int_equal(info->tx_attr->rma_iov_limit, op::max_targets);
  assert_int_equal(info->domain_attr->mr_mode, 0);
  hints->caps = FI_RMA | FI_READ | FI_REMOTE_READ | FI_RMA_EVENT;
  info = face::getinfo(hints.get(), rc);
  assert_int_equal(rc, 0);
  assert_int_equal(info->caps & (FI_RMA | FI_ATOMIC | all | FI_RMA_EVENT), hints->caps);
}

// All may be agreed to; none is needed.
static void getinfo__modes_of_registration(void **) {
  constexpr int bits[] = {FI_MR_VIRT_ADDR, FI_MR_ALLOCATED, FI_MR_PROV_KEY,
                          FI_MR_LOCAL,     FI_MR_ENDPOINT,  FI_MR_RAW};
  for (const std::uint64_t caps : {FI_MSG, FI_RMA, FI_ATOMIC})
    for (unsigned mix = 0; mix < 1u << std::size(bits); ++mix) {
      const InfoPtr hints = face::named_hints();
      hints->caps = caps;
      for (unsigned i = 0; i < std::size(bits); ++i)
        hints->domain_attr->mr_mode |= mix >> i & 1 ? bits[i] : 0;
      int rc;
      const InfoPtr info = face::getinfo(hints.get(), rc);
      assert_int_equal(rc, 0);
      assert_int_equal(info->domain_attr->mr_mode, 0);
    }
  for (const int old : {1 << 0, 1 << 1}) { // FI_MR_BASIC, FI_MR_SCALABLE
    const InfoPtr hints = face::named_hints();
    hints->caps = FI_RMA;
    hints->domain_attr->mr_mode = old;
    int rc;
    const InfoPtr info = face::getinfo(hints.get(), rc);
    assert_int_equal(rc, 0);
    assert_int_equal(info->domain_attr->mr_mode, old);
  }
}

// What the MPI libraries hint at.
static void getinfo__suits_open_mpi_and_mpich(void **) {
  const InfoPtr hints = face::named_hints();
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->caps = FI_TAGGED | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_DIRECTED_RECV;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->av_type = FI_AV_MAP;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  int rc;
  InfoPtr info = face::getinfo(hints.get(), rc);
  assert_int_equal(rc, 0);
  assert_int_equal(info->mode, 0);
  assert_int_equal(info->domain_attr->threading, FI_THREAD_DOMAIN);
  assert_int_equal(info->domain_attr->av_type, FI_AV_MAP);
  assert_int_equal(info->domain_attr->mr_mode, 0);
  assert_int_equal(info->caps & FI_MSG, 0);

  hints->mode |= FI_ASYNC_IOV | FI_RX_CQ_DATA;
  hints->caps |= FI_MSG | FI_MULTI_RECV;
  hints->domain_attr->av_type = FI_AV_TABLE;
  hints->domain_attr->cq_data_size = 4;
  hints->tx_attr->op_flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
  info = face::getinfo(hints.get(), rc);
  assert_int_equal(rc, 0);
  assert_int_equal(info->tx_attr->op_flags, FI_COMPLETION | FI_DELIVERY_COMPLETE);
  assert_true(info->caps & FI_MULTI_RECV);
}

static void getinfo__source_from_node_and_service(void **) {
  const InfoPtr hints = face::named_hints();
  int rc;
  InfoPtr info = face::getinfo(hints.get(), rc, "127.0.0.1", "4000", FI_SOURCE);
  assert_int_equal(rc, 0);
  assert_true(source_of(*info) == Address::v4(0x7f000001, 4000));
  info = face::getinfo(hints.get(), rc, nullptr, "4000", FI_SOURCE);
  assert_int_equal(rc, 0);
  assert_true(source_of(*info) == Address::v4(0, 4000)); // all of the host's
  face::getinfo(hints.get(), rc, "198.51.100.7", "4000", FI_SOURCE);
  assert_int_equal(rc, -FI_ENODATA); // another host's
  face::getinfo(hints.get(), rc, nullptr, nullptr, FI_SOURCE);
  assert_int_equal(rc, -FI_EINVAL);
}

static void getinfo__destination_from_node_and_service(void **) {
  const InfoPtr hints = face::named_hints();
  int rc;
  InfoPtr info = face::getinfo(hints.get(), rc, "10.0.0.9", "4000");
  assert_int_equal(rc, 0);
  assert_true(dest_of(*info) == Address::v4(0x0a000009, 4000));
  info = face::getinfo(hints.get(), rc, nullptr, "4000");
  assert_true(dest_of(*info) == Address::v4(0x7f000001, 4000));
  info = face::getinfo(hints.get(), rc, "fi_sockaddr_in://10.0.0.9:5000");
  assert_int_equal(rc, 0);
  assert_true(dest_of(*info) == Address::v4(0x0a000009, 5000));
  face::getinfo(hints.get(), rc, "a-name", "4000", FI_NUMERICHOST);
  assert_int_equal(rc, -FI_ENODATA);
}

static void getinfo__addresses_from_hints(void **) {
  const InfoPtr hints = face::named_hints();
  const auto give = [](void *&place, std::size_t &len, const Address &address) {
    const AddressBytes bytes = write_address(FI_SOCKADDR_IN, address);
    place = std::malloc(bytes.size());
    std::memcpy(place, bytes.data(), bytes.size());
    len = bytes.size();
  };
  hints->addr_format = FI_SOCKADDR_IN;
  give(hints->src_addr, hints->src_addrlen, Address::v4(0x7f000001, 4001));
  give(hints->dest_addr, hints->dest_addrlen, Address::v4(0x0a000009, 4002));
  int rc;
  InfoPtr info = face::getinfo(hints.get(), rc);
  assert_int_equal(rc, 0);
  assert_int_equal(source_of(*info).port, 4001);
  assert_int_equal(dest_of(*info).port, 4002);
  // Node and service go before the hint of the same side.
  info = face::getinfo(hints.get(), rc, "10.0.0.9", "5000");
  assert_int_equal(source_of(*info).port, 4001);
  assert_int_equal(dest_of(*info).port, 5000);
  info = face::getinfo(hints.get(), rc, "127.0.0.1", "5001", FI_SOURCE);
  assert_int_equal(source_of(*info).port, 5001);
  assert_int_equal(dest_of(*info).port, 4002);
}

static void getinfo__address_formats(void **) {
  const InfoPtr hints = face::named_hints();
  int rc;
  for (const std::uint32_t format :
       {std::uint32_t{FI_SOCKADDR}, std::uint32_t{FI_SOCKADDR_IN6}, std::uint32_t{FI_ADDR_STR}}) {
    hints->addr_format = format;
    const InfoPtr info = face::getinfo(hints.get(), rc, "::1", "4000");
    assert_int_equal(rc, 0);
    assert_int_equal(info->addr_format, format);
    assert_int_equal(dest_of(*info).port, 4000);
    source_of(*info);
  }
  hints->addr_format = FI_FORMAT_UNSPEC;
  assert_int_equal(face::getinfo(hints.get(), rc, "::1", "4000")->addr_format, FI_SOCKADDR_IN6);
  hints->addr_format = FI_SOCKADDR_IN;
  face::getinfo(hints.get(), rc, "::1", "4000");
  assert_int_equal(rc, -FI_ENODATA);
}

static void getinfo__hints_raise_sizes_within_bounds(void **) {
  const InfoPtr hints = face::named_hints();
  hints->tx_attr->size = 4096;
  hints->rx_attr->size = 32;
  hints->tx_attr->inject_size = 2048;
  int rc;
  const InfoPtr info = face::getinfo(hints.get(), rc);
  assert_int_equal(rc, 0);
  assert_int_equal(info->tx_attr->size, 4096);
  assert_int_equal(info->rx_attr->size, 32);
  assert_int_equal(info->tx_attr->inject_size, 2048);
}

static void getinfo__keys_are_kept(void **) {
  const InfoPtr hints = face::named_hints();
  hints->ep_attr->auth_key = reinterpret_cast<std::uint8_t *>(strdup("key"));
  hints->ep_attr->auth_key_size = 3;
  int rc;
  const InfoPtr info = face::getinfo(hints.get(), rc);
  assert_int_equal(rc, 0);
  assert_int_equal(info->ep_attr->auth_key_size, 3);
  assert_memory_equal(info->ep_attr->auth_key, "key", 3);
}

static void getinfo__a_wrong_setting_fails(void **) {
  const Environment environment{{"FI_DPDKX_TX_SIZE", "many"}};
  int rc;
  assert_null(face::getinfo(face::named_hints().get(), rc).get());
  assert_int_equal(rc, -FI_EINVAL);
}

// A virtual device is described without being there.
static void getinfo__a_device_is_a_domain(void **) {
  const face::EthdevModule module;
  const Environment environment{{"FI_DPDKX_DEVICE", "net_memif7,role=server,id=7"},
                                {"FI_DPDKX_ADDR", "10.9.8.7/24"},
                                {"FI_PROVIDER", "dpdkx"}};
  int rc;
  InfoPtr info = face::getinfo(hints_of(FI_EP_RDM).get(), rc);
  assert_int_equal(rc, 0);
  assert_string_equal(info->domain_attr->name, "net_memif7,role=server,id=7");
  assert_true(source_of(*info) == Address::v4(0x0a090807, 0));
  assert_true(is_last_of_its_type(*info));

  info = face::getinfo(hints_of(FI_EP_DGRAM).get(), rc);
  assert_string_equal(info->domain_attr->name, "net_memif7,role=server,id=7");
  assert_int_equal(info->ep_attr->max_msg_size, 1500 - 28 - 40);

  info = face::getinfo(nullptr, rc); // everything
  assert_non_null(info->next);
  assert_string_equal(info->next->domain_attr->name, "host");

  const InfoPtr hints = hints_of(FI_EP_RDM);
  hints->domain_attr->name = strdup("host");
  info = face::getinfo(hints.get(), rc);
  assert_string_equal(info->domain_attr->name, "host");
  assert_true(is_last_of_its_type(*info));

  info = face::getinfo(face::named_hints().get(), rc, "127.0.0.1", "4000", FI_SOURCE);
  assert_string_equal(info->domain_attr->name, "host");
}

static void getinfo__a_device_of_ipv6(void **) {
  const face::EthdevModule module;
  const Environment environment{{"FI_DPDKX_DEVICE", "net_memif7,role=server,id=7"},
                                {"FI_DPDKX_ADDR", "fd00:5::7/64"},
                                {"FI_PROVIDER", "dpdkx"}};
  net::Ip own;
  assert_true(net::parse_ip("fd00:5::7", own));
  const InfoPtr hints = hints_of(FI_EP_RDM);
  int rc;
  for (const std::uint32_t format : {std::uint32_t{FI_FORMAT_UNSPEC}, std::uint32_t{FI_SOCKADDR},
                                     std::uint32_t{FI_SOCKADDR_IN6}, std::uint32_t{FI_ADDR_STR}}) {
    hints->addr_format = format;
    const InfoPtr info = face::getinfo(hints.get(), rc);
    assert_int_equal(rc, 0);
    assert_int_equal(info->addr_format, format ? format : std::uint32_t{FI_SOCKADDR_IN6});
    assert_true(source_of(*info) == own.with_port(0));
    assert_true(is_last_of_its_type(*info));
  }
  hints->addr_format = FI_SOCKADDR_IN;
  assert_null(face::getinfo(hints.get(), rc).get());
  assert_int_equal(rc, -FI_ENODATA);
  hints->addr_format = FI_FORMAT_UNSPEC;

  // All addresses of the host, whichever way that is said.
  for (const char *any : {static_cast<const char *>(nullptr), "0.0.0.0", "::"}) {
    const InfoPtr info = face::getinfo(hints.get(), rc, any, "4000", FI_SOURCE);
    assert_int_equal(rc, 0);
    assert_string_equal(info->domain_attr->name, "net_memif7,role=server,id=7");
    assert_int_equal(info->addr_format, FI_SOCKADDR_IN6);
    assert_true(source_of(*info) == net::Ip{}.with_port(4000));
  }
  const InfoPtr info = face::getinfo(hints.get(), rc, "fd00:5::8", "4000");
  assert_int_equal(info->addr_format, FI_SOCKADDR_IN6);
  assert_true(source_of(*info) == own.with_port(0));
  assert_int_equal(dest_of(*info).port, 4000);
}

static void getinfo__ipv4_of_a_device_goes_as_mapped_ipv6(void **) {
  const face::EthdevModule module;
  const Environment environment{{"FI_DPDKX_DEVICE", "net_memif7,role=server,id=7"},
                                {"FI_DPDKX_ADDR", "10.9.8.7/24"}};
  const InfoPtr hints = face::named_hints();
  hints->addr_format = FI_SOCKADDR_IN6;
  int rc;
  const InfoPtr info = face::getinfo(hints.get(), rc);
  assert_int_equal(rc, 0);
  assert_int_equal(info->src_addrlen, sizeof(sockaddr_in6));
  assert_true(source_of(*info) == Address::v4(0x0a090807, 0));
}

static void getinfo__a_device_has_a_nic(void **) {
  const face::EthdevModule module;
  const Environment environment{{"FI_DPDKX_DEVICE", "net_memif7,role=server,id=7"},
                                {"FI_DPDKX_ADDR", "10.9.8.7/24"},
                                {"FI_DPDKX_MTU", "4000"}};
  int rc;
  InfoPtr info = face::getinfo(face::named_hints().get(), rc);
  assert_int_equal(rc, 0);
  const InfoPtr copy(fi_dupinfo(info.get()));
  for (const fid_nic *nic : {info->nic, copy->nic}) {
    assert_non_null(nic);
    assert_int_equal(nic->fid.fclass, FI_CLASS_NIC);
    assert_string_equal(nic->device_attr->name, "net_memif7");
    assert_null(nic->device_attr->driver);
    assert_int_equal(nic->bus_attr->bus_type, FI_BUS_UNKNOWN);
    assert_string_equal(nic->link_attr->network_type, "Ethernet");
    assert_int_equal(nic->link_attr->mtu, 4000);
    assert_int_equal(nic->link_attr->state, FI_LINK_UNKNOWN);
    assert_null(nic->link_attr->address);
  }
  assert_ptr_not_equal(info->nic, copy->nic);
  info.reset(); // the copy has its own strings
  assert_non_null(strstr(fi_tostr(copy.get(), FI_TYPE_INFO), "name: net_memif7\n"));

  const InfoPtr hints = face::named_hints();
  hints->domain_attr->name = strdup("host");
  assert_null(face::getinfo(hints.get(), rc)->nic);
  // Applications of old know no such field.
  info = face::getinfo(face::named_hints().get(), rc, nullptr, nullptr, 0, FI_VERSION(1, 6));
  assert_null(info->nic);
}

// How many interfaces there were to see that of.
static unsigned nics_tell_what_the_kernel_knows() {
  const face::EthdevModule module;
  unsigned seen = 0;
  for (const auto &entry : std::filesystem::directory_iterator("/sys/class/net")) {
    const std::string name = entry.path().filename();
    const auto interface = net::find_kernel_interface(name);
    if (!interface || !interface->up || !interface->ethernet)
      continue;
    const Environment environment{{"FI_DPDKX_DEVICE", name.c_str()},
                                  {"FI_DPDKX_ADDR", "10.9.8.7/24"}};
    int rc;
    const InfoPtr info = face::getinfo(face::named_hints().get(), rc);
    assert_int_equal(rc, 0);
    const fid_nic &nic = *info->nic;
    assert_string_equal(nic.device_attr->name, name.c_str());
    assert_string_equal(nic.link_attr->address, net::to_string(interface->mac).c_str());
    assert_int_equal(nic.link_attr->speed, interface->speed_mbps * 1'000'000);
    assert_int_equal(nic.link_attr->state, FI_LINK_UP);
    const auto driver = entry.path() / "device/driver";
    assert_int_equal(nic.device_attr->driver != nullptr, std::filesystem::exists(driver));
    ++seen;
  }
  return seen;
}

static void getinfo__a_nic_tells_what_the_kernel_knows(void **) {
  if (nics_tell_what_the_kernel_knows() == 0)
    skip(); // a namespace without any; and nothing is taken down by skip()
}

static void getinfo__a_nic_of_a_pci_device_has_its_address(void **) {
  net::DeviceSpec spec;
  spec.kind = net::DeviceKind::pci;
  spec.bus_name = "00a7:3b:1c.5"; // not there
  const InfoPtr info(fi_allocinfo());
  info->nic = make_nic(spec, {});
  assert_int_equal(info->nic->bus_attr->bus_type, FI_BUS_PCI);
  const fi_pci_attr &pci = info->nic->bus_attr->attr.pci;
  assert_int_equal(pci.domain_id, 0xa7);
  assert_int_equal(pci.bus_id, 0x3b);
  assert_int_equal(pci.device_id, 0x1c);
  assert_int_equal(pci.function_id, 5);
  assert_null(info->nic->device_attr->vendor_id);
}

// As built without DPDK: what couldn't be opened is not offered.
static void getinfo__devices_need_their_module(void **) {
  const Environment environment{{"FI_DPDKX_DEVICE", "net_memif7,role=server,id=7"},
                                {"FI_DPDKX_ADDR", "10.9.8.7/24"}};
  int rc;
  assert_null(face::getinfo(face::named_hints().get(), rc).get());
  assert_int_equal(rc, -FI_ENODATA);
  const InfoPtr hints = face::named_hints();
  hints->domain_attr->name = strdup("host");
  assert_non_null(face::getinfo(hints.get(), rc).get());
}

static void getinfo__an_absent_pci_device_is_left_out(void **) {
  const face::EthdevModule module;
  const Environment environment{{"FI_DPDKX_DEVICE", "ffff:ff:1f.7"},
                                {"FI_DPDKX_ADDR", "10.9.8.7/24"}};
  int rc;
  assert_null(face::getinfo(face::named_hints().get(), rc).get());
  assert_int_equal(rc, -FI_ENODATA);
}

static void getinfo__a_device_without_address_is_left_out(void **) {
  const face::EthdevModule module;
  const Environment environment{{"FI_DPDKX_DEVICE", "net_memif7,role=server,id=7"}};
  int rc;
  assert_null(face::getinfo(face::named_hints().get(), rc).get());
  assert_int_equal(rc, -FI_ENODATA);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(getinfo__is_silent_unless_named),
    cmocka_unit_test(getinfo__answers_when_named),
    cmocka_unit_test(getinfo__offers_one_domain_without_devices),
    cmocka_unit_test(getinfo__offers_connected_endpoints_second),
    cmocka_unit_test(getinfo__gives_layers_no_connected_endpoints),
    cmocka_unit_test(getinfo__refuses_what_is_not_there),
    cmocka_unit_test(getinfo__offers_datagrams_last),
    cmocka_unit_test(getinfo__offers_rma_and_atomics),
    cmocka_unit_test(getinfo__modes_of_registration),
    cmocka_unit_test(getinfo__suits_open_mpi_and_mpich),
    cmocka_unit_test(getinfo__source_from_node_and_service),
    cmocka_unit_test(getinfo__destination_from_node_and_service),
    cmocka_unit_test(getinfo__addresses_from_hints),
    cmocka_unit_test(getinfo__address_formats),
    cmocka_unit_test(getinfo__hints_raise_sizes_within_bounds),
    cmocka_unit_test(getinfo__keys_are_kept),
    cmocka_unit_test(getinfo__a_wrong_setting_fails),
    cmocka_unit_test(getinfo__a_device_is_a_domain),
    cmocka_unit_test(getinfo__a_device_of_ipv6),
    cmocka_unit_test(getinfo__ipv4_of_a_device_goes_as_mapped_ipv6),
    cmocka_unit_test(getinfo__a_device_has_a_nic),
    cmocka_unit_test(getinfo__a_nic_tells_what_the_kernel_knows),
    cmocka_unit_test(getinfo__a_nic_of_a_pci_device_has_its_address),
    cmocka_unit_test(getinfo__devices_need_their_module),
    cmocka_unit_test(getinfo__an_absent_pci_device_is_left_out),
    cmocka_unit_test(getinfo__a_device_without_address_is_left_out),
};
static const unit::Group group{"getinfo", cases};

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/face/face.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <rdma/providers/fi_prov.h>

extern "C" fi_provider *fi_prov_ini(void);

#include "unit/unit.h"

namespace face {

namespace {

// libfabric's own list of settings has to be there before the provider's.
void start() {
  static std::once_flag once;
  std::call_once(once, [] {
    setenv("FI_PROVIDER_PATH", "/nonexistent", 1);
    fi_param *params = nullptr;
    int count = 0;
    fi_getparams(&params, &count);
    fi_freeparams(params);
    fi_prov_ini();
  });
}

template <class F> void settle(F &&done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!done())
    if (std::chrono::steady_clock::now() > end)
      fail_msg("nothing has come for long");
}

} // namespace

Environment::Environment(std::initializer_list<std::pair<const char *, const char *>> values) {
  for (const auto &[name, value] : values) {
    setenv(name, value, 1);
    names_.emplace_back(name);
  }
}

Environment::~Environment() {
  for (const std::string &name : names_)
    unsetenv(name.c_str());
}

EthdevModule::EthdevModule() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  path_ = program.parent_path() / "libdpdkx-ethdev.so";
  std::ofstream file(path_);
  assert_true(file.good());
}

EthdevModule::~EthdevModule() { std::filesystem::remove(path_); }

InfoPtr named_hints() {
  start();
  InfoPtr hints(fi_allocinfo());
  hints->fabric_attr->prov_name = strdup(dpdkx::provider_name);
  return hints;
}

InfoPtr getinfo(const fi_info *hints, int &rc, const char *node, const char *service,
                std::uint64_t flags, std::uint32_t api) {
  start();
  fi_info *list = nullptr;
  rc = dpdkx::provider.getinfo(api, node, service, flags, hints, &list);
  return InfoPtr(list);
}

Opened::Opened(const fi_info *hints) {
  const InfoPtr plain = named_hints();
  int rc;
  info = getinfo(hints ? hints : plain.get(), rc);
  assert_int_equal(rc, 0);
  // libfabric would do this.
  info->fabric_attr->prov_name = strdup(dpdkx::provider_name);
  info->fabric_attr->api_version = FI_VERSION(1, 17);
  fid_fabric *f = nullptr;
  assert_int_equal(dpdkx::provider.fabric(info->fabric_attr, &f, nullptr), 0);
  fabric.reset(f);
  fid_domain *d = nullptr;
  assert_int_equal(fi_domain(f, info.get(), &d, nullptr), 0);
  domain.reset(d);
}

Fid<fid_cq> Opened::cq(fi_cq_format format, fi_wait_obj wait) {
  fi_cq_attr attr{};
  attr.format = format;
  attr.wait_obj = wait;
  fid_cq *cq = nullptr;
  assert_int_equal(fi_cq_open(domain.get(), &attr, &cq, nullptr), 0);
  return Fid<fid_cq>(cq);
}

Fid<fid_av> Opened::av() {
  fi_av_attr attr{};
  attr.type = FI_AV_TABLE;
  fid_av *av = nullptr;
  assert_int_equal(fi_av_open(domain.get(), &attr, &av, nullptr), 0);
  return Fid<fid_av>(av);
}

Fid<fid_cntr> Opened::cntr() {
  fi_cntr_attr attr{};
  attr.wait_obj = FI_WAIT_UNSPEC;
  fid_cntr *cntr = nullptr;
  assert_int_equal(fi_cntr_open(domain.get(), &attr, &cntr, nullptr), 0);
  return Fid<fid_cntr>(cntr);
}

Fid<fid_ep> Opened::ep() {
  fid_ep *ep = nullptr;
  assert_int_equal(fi_endpoint(domain.get(), info.get(), &ep, nullptr), 0);
  return Fid<fid_ep>(ep);
}

Peer::Peer(Opened &opened, std::uint64_t cq_flags, fi_wait_obj wait)
    : cq(opened.cq(FI_CQ_FORMAT_TAGGED, wait)), sent(opened.cntr()), received(opened.cntr()),
      av(opened.av()), ep(opened.ep()) {
  assert_int_equal(fi_ep_bind(ep.get(), &cq->fid, FI_TRANSMIT | FI_RECV | cq_flags), 0);
  assert_int_equal(fi_ep_bind(ep.get(), &sent->fid, FI_SEND), 0);
  assert_int_equal(fi_ep_bind(ep.get(), &received->fid, FI_RECV), 0);
  assert_int_equal(fi_ep_bind(ep.get(), &av->fid, 0), 0);
  assert_int_equal(fi_enable(ep.get()), 0);
}

fi_addr_t Peer::knows(Peer &other) {
  char name[128];
  std::size_t len = sizeof(name);
  assert_int_equal(fi_getname(&other.ep->fid, name, &len), 0);
  fi_addr_t address = FI_ADDR_NOTAVAIL;
  assert_int_equal(fi_av_insert(av.get(), name, 1, &address, 0, nullptr), 1);
  return address;
}

fi_cq_tagged_entry Peer::completion() {
  fi_cq_tagged_entry entry{};
  settle([&] {
    const ssize_t n = fi_cq_read(cq.get(), &entry, 1);
    if (n != 1)
      assert_int_equal(n, -FI_EAGAIN);
    return n == 1;
  });
  return entry;
}

bool Peer::quiet() {
  fi_cq_tagged_entry entry;
  for (int i = 0; i < 1000; ++i)
    if (fi_cq_read(cq.get(), &entry, 1) != -FI_EAGAIN)
      return false;
  return true;
}

} // namespace face

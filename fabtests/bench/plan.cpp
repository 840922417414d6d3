// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bench/plan.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>
#include <unistd.h>

namespace fabtest {

namespace {

std::vector<std::string> timing(const plan_options &o) {
  return {"--milliseconds", o.quick ? "4" : "40", "--batches", o.quick ? "4" : "20"};
}

command program(const plan_options &o, const std::string &name) {
  command c{{o.folder + "/" + name}, {}};
  for (auto &word : timing(o))
    c.words.push_back(std::move(word));
  return c;
}

void append(command &c, std::initializer_list<std::string> words) {
  c.words.insert(c.words.end(), words);
}

contestant provider(const plan_options &o, const std::string &name, const std::string &sizes,
                    const std::string &measured_by = "fabric_perf",
                    const std::string &nodes = "127.0.0.1") {
  contestant c{name, program(o, measured_by), false};
  append(c.run, {"-p", name, "--sizes", sizes});
  c.run.env.emplace_back("FI_PROVIDER", name);
  if (name.starts_with("tcp") || name.starts_with("udp"))
    append(c.run, {"--node", nodes});
  return c;
}

// The device of each rank, for dpdkx and for raw DPDK.
struct device_pair {
  std::string first, second;
};

contestant raw(const plan_options &o, const device_pair &d) {
  contestant c{"raw", program(o, "floor_dpdk"), true};
  append(c.run, {"--device", d.first, "--device", d.second, "--name", "raw"});
  return c;
}

void set_devices(contestant &c, const device_pair &d) {
  append(c.run, {"--rank-env", "0:FI_DPDKX_DEVICE=" + d.first, "--rank-env",
                 "1:FI_DPDKX_DEVICE=" + d.second});
}

contestant dpdkx_on(const plan_options &o, const std::string &sizes, const device_pair &d) {
  contestant c = provider(o, dpdkx_name, sizes);
  append(c.run, {"--what", "latency"});
  set_devices(c, d);
  return c;
}

bool built(const plan_options &o, const std::string &name) {
  return std::filesystem::exists(o.folder + "/" + name);
}

// The control socket has a path: abstract ones don't reach across namespaces.
device_pair memif(const plan_options &o, const std::string &id) {
  const auto end = [&](const char *role) {
    return fmt::format(
        "net_memif0,role={},socket-abstract=no,socket={}/memif_{}_{},id=0,bsize=2048", role,
        o.scratch, getpid(), id);
  };
  return {end("server"), end("client")};
}

// The driver's ring as dpdkx lays it out: frames that hold an MTU, blocks of whole frames and
// pages.
device_pair af_packet(unsigned mtu) {
  constexpr unsigned kernel_and_link_header = 114, step = 1024, page = 4096, ring = 2u << 20;
  const unsigned frame =
      std::max((mtu + kernel_and_link_header + step - 1) / step * step, 2 * step);
  const unsigned block = std::lcm(frame, page), per_block = block / frame;
  const auto end = [&](int side) {
    return fmt::format("net_af_packet0,iface={},qdisc_bypass=1,framesz={},blocksz={},framecnt={}",
                       namespace_pair::interface(side), frame, block,
                       ring / frame / per_block * per_block);
  };
  return {end(0), end(1)};
}

} // namespace

section host_section(const plan_options &o) {
  const std::string sizes =
      o.quick ? "8,2048,1048576"
              : "0,8,32,64,128,256,1024,2048,4096,13312,16384,65536,262144,1048576,4194304";
  section s{"host", {}};
  for (const char *name : {dpdkx_name, "shm", "tcp;ofi_rxm"})
    s.contestants.push_back(provider(o, name, sizes));
  s.contestants.push_back({"floor", program(o, "floor_shm"), true});
  s.contestants.push_back({"floor", program(o, "floor_socket"), true});
  return s;
}

// Messages, and then operations on memory, of one provider.
static std::vector<contestant> both_of(const plan_options &o, const std::string &name) {
  std::vector<contestant> both{provider(o, name, "8,1048576"),
                               provider(o, name, "8,1048576", "remote_perf")};
  append(both.front().run, {"--what", "latency,bandwidth"});
  return both;
}

section remote_section(const plan_options &o) {
  section s{"remote", {}};
  for (const char *name : {dpdkx_name, "shm", "tcp;ofi_rxm"})
    for (contestant &c : both_of(o, name))
      s.contestants.push_back(std::move(c));
  s.contestants.push_back({"floor", program(o, "floor_shm"), true});
  return s;
}

section triggers_section(const plan_options &o) {
  section s{"triggers", {}};
  s.contestants = {provider(o, dpdkx_name, "8"), provider(o, dpdkx_name, "8", "trigger_perf")};
  append(s.contestants.front().run, {"--what", "latency"});
  s.contestants.push_back({"floor", program(o, "floor_shm"), true});
  return s;
}

section remote_veth_section(const plan_options &o, const namespace_pair &ns) {
  section s{"remote_veth", {}};
  if (!built(o, "floor_dpdk"))
    return s;
  const std::string nodes = namespace_pair::address(0) + "," + namespace_pair::address(1);
  for (contestant &c : both_of(o, dpdkx_name)) {
    set_devices(c, {namespace_pair::interface(0), namespace_pair::interface(1)});
    append(c.run, {"--node", nodes});
    s.contestants.push_back(std::move(c));
  }
  s.contestants.push_back({"floor", program(o, "floor_socket"), true});
  append(s.contestants.back().run, {"--node", nodes, "--sizes", "8"});
  for (auto &c : s.contestants)
    append(c.run, {"--netns", ns.names()});
  return s;
}

section memif_section(const plan_options &o, const namespace_pair &ns) {
  section s{"memif", {}};
  if (!built(o, "floor_dpdk"))
    return s;
  contestant ours = dpdkx_on(o, "8,256,1024", memif(o, "x"));
  append(ours.run, {"--rank-env", "0:FI_DPDKX_ADDR=10.98.0.1/24", "--rank-env",
                    "1:FI_DPDKX_ADDR=10.98.0.2/24", "--node", "10.98.0.1,10.98.0.2"});
  s.contestants = {ours, raw(o, memif(o, "r"))};
  for (auto &c : s.contestants)
    append(c.run, {"--netns", ns.names()});
  return s;
}

namespace {

section device_section(const plan_options &o, const namespace_pair &ns, const std::string &name,
                       unsigned mtu) {
  section s{name, {}};
  const std::string nodes = namespace_pair::address(0) + "," + namespace_pair::address(1);
  const std::string sizes = o.quick ? "8,2048" : "8,256,1024,2048,4096,8192,16384,32768,65536";
  if (built(o, "floor_dpdk")) {
    s.contestants.push_back(
        dpdkx_on(o, sizes, {namespace_pair::interface(0), namespace_pair::interface(1)}));
    append(s.contestants.back().run, {"--node", nodes});
    s.contestants.push_back(raw(o, af_packet(mtu)));
    append(s.contestants.back().run, {"--mtu", std::to_string(mtu), "--sizes", sizes});
  }
  s.contestants.push_back(provider(o, "tcp;ofi_rxm", sizes, "fabric_perf", nodes));
  append(s.contestants.back().run, {"--what", "latency"});
  s.contestants.push_back({"floor", program(o, "floor_socket"), true});
  append(s.contestants.back().run, {"--node", nodes, "--sizes", sizes});
  for (auto &c : s.contestants)
    append(c.run, {"--netns", ns.names()});
  return s;
}

} // namespace

section veth_section(const plan_options &o, const namespace_pair &ns) {
  return device_section(o, ns, "veth", 1500);
}

section jumbo_section(const plan_options &o, const namespace_pair &ns) {
  return device_section(o, ns, "jumbo", jumbo_mtu);
}

} // namespace fabtest

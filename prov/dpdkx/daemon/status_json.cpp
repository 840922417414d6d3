// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/status_json.h"

#include "dpdkx/net/text.h"

#include <nlohmann/json.hpp>

namespace dpdkx::daemon {

namespace {

using Json = nlohmann::ordered_json;

// ---- to JSON

Json json_of(const Traffic &traffic) {
  return {{"packets", traffic.packets}, {"bytes", traffic.bytes}};
}

Json json_of(const RankStatus &rank) {
  return {{"address", net::to_string(net::Ip::of(rank.address))},
          {"port", rank.address.port},
          {"pid", rank.pid},
          {"uid", rank.uid},
          {"attached_ns", rank.attached.count()},
          {"to_network", json_of(rank.to_network)},
          {"to_rank", json_of(rank.to_rank)},
          {"dropped_no_room", rank.dropped_no_room},
          {"send_refused", rank.send_refused},
          {"malformed", rank.malformed},
          {"acknowledged", rank.acknowledged},
          {"paths", rank.paths},
          {"ring_bytes", rank.ring_bytes},
          {"ring_used", rank.ring_used}};
}

Json json_of(const QueueStatus &queue) {
  return {{"index", queue.index}, {"purpose", queue.purpose}, {"packets", queue.packets}};
}

Json json_of(const link::PciIdentity &pci) {
  return {{"domain", pci.domain},
          {"bus", pci.bus},
          {"device", pci.device},
          {"function", pci.function},
          {"vendor_id", pci.vendor_id},
          {"device_id", pci.device_id},
          {"subsystem_vendor_id", pci.subsystem_vendor_id},
          {"subsystem_device_id", pci.subsystem_device_id},
          {"revision", pci.revision}};
}

Json json_of(const DeviceStatus &);

template <class T> Json json_of(const std::vector<T> &all) {
  Json list = Json::array();
  for (const T &one : all)
    list.push_back(json_of(one));
  return list;
}

Json json_of(const DeviceStatus &device) {
  const link::DeviceInfo &info = device.info;
  Json out{{"name", info.name},
           {"driver", info.driver},
           {"link_name", info.link_name},
           {"mac", net::to_string(info.mac)},
           {"address", net::to_string(info.address.address)},
           {"prefix", info.address.prefix},
           {"mtu", info.mtu},
           {"bits_per_second", info.bits_per_second},
           {"numa_node", info.numa_node}};
  if (info.pci)
    out["pci"] = json_of(*info.pci);
  out["steering"] = info.steering;
  out["queues"] = json_of(device.queues);
  out["ranks"] = json_of(device.ranks);
  out["probes"] = {{"port", device.probes.port},
                   {"answered", device.probes.answered},
                   {"refused", device.probes.refused}};
  // A driver may give two counters one name.
  out["counters"] = Json::array();
  for (const auto &[name, value] : device.counters)
    out["counters"].push_back({{"name", name}, {"value", value}});
  return out;
}

// ---- from JSON

// Throws what nlohmann does at a value of the wrong kind.
class Reader {
public:
  explicit Reader(const Json &from) : from_(from) {
    if (!from.is_object())
      throw std::invalid_argument("an object is missing");
  }

  template <class T> void number(const char *name, T &out) const {
    if (const Json *found = find(name)) {
      if (!found->is_number_integer())
        throw std::invalid_argument(std::string(name) + " isn't a whole number");
      out = found->get<T>();
    }
  }
  void time(const char *name, Duration &out) const {
    Duration::rep count = 0;
    number(name, count);
    out = Duration(count);
  }
  void text(const char *name, std::string &out) const {
    if (const Json *found = find(name))
      out = found->get<std::string>();
  }
  template <class Each> void list(const char *name, Each &&each) const {
    if (const Json *found = find(name))
      for (const Json &one : *found)
        each(Reader(one));
  }
  template <class Use> void object(const char *name, Use &&use) const {
    if (const Json *found = find(name))
      use(Reader(*found));
  }

  net::Ip ip(const char *name) const {
    std::string word;
    net::Ip ip;
    text(name, word);
    if (!word.empty() && !net::parse_ip(word, ip))
      throw std::invalid_argument(std::string(name) + " isn't an IP address");
    return ip;
  }

private:
  const Json *find(const char *name) const {
    const auto found = from_.find(name);
    return found == from_.end() ? nullptr : &*found;
  }

  const Json &from_;
};

Traffic traffic_of(const Reader &in, const char *name) {
  Traffic out;
  in.object(name, [&](const Reader &traffic) {
    traffic.number("packets", out.packets);
    traffic.number("bytes", out.bytes);
  });
  return out;
}

RankStatus rank_of(const Reader &in) {
  RankStatus out;
  std::uint16_t port = 0;
  in.number("port", port);
  out.address = in.ip("address").with_port(port);
  in.number("pid", out.pid);
  in.number("uid", out.uid);
  in.time("attached_ns", out.attached);
  out.to_network = traffic_of(in, "to_network");
  out.to_rank = traffic_of(in, "to_rank");
  in.number("dropped_no_room", out.dropped_no_room);
  in.number("send_refused", out.send_refused);
  in.number("malformed", out.malformed);
  in.number("acknowledged", out.acknowledged);
  in.number("paths", out.paths);
  in.number("ring_bytes", out.ring_bytes);
  in.number("ring_used", out.ring_used);
  return out;
}

link::PciIdentity pci_of(const Reader &in) {
  link::PciIdentity out;
  in.number("domain", out.domain);
  in.number("bus", out.bus);
  in.number("device", out.device);
  in.number("function", out.function);
  in.number("vendor_id", out.vendor_id);
  in.number("device_id", out.device_id);
  in.number("subsystem_vendor_id", out.subsystem_vendor_id);
  in.number("subsystem_device_id", out.subsystem_device_id);
  in.number("revision", out.revision);
  return out;
}

link::DeviceInfo info_of(const Reader &in) {
  link::DeviceInfo out;
  std::string mac;
  in.text("name", out.name);
  in.text("driver", out.driver);
  in.text("link_name", out.link_name);
  in.text("mac", mac);
  if (!mac.empty() && !net::parse_mac(mac, out.mac))
    throw std::invalid_argument("mac isn't a MAC address");
  out.address.address = in.ip("address");
  in.number("prefix", out.address.prefix);
  in.number("mtu", out.mtu);
  in.number("bits_per_second", out.bits_per_second);
  in.number("numa_node", out.numa_node);
  in.text("steering", out.steering);
  in.object("pci", [&](const Reader &pci) { out.pci = pci_of(pci); });
  return out;
}

DeviceStatus device_of(const Reader &in) {
  DeviceStatus out;
  out.info = info_of(in);
  in.list("queues", [&](const Reader &queue) {
    QueueStatus &one = out.queues.emplace_back();
    queue.number("index", one.index);
    queue.text("purpose", one.purpose);
    queue.number("packets", one.packets);
  });
  in.list("ranks", [&](const Reader &rank) { out.ranks.push_back(rank_of(rank)); });
  in.object("probes", [&](const Reader &probes) {
    probes.number("port", out.probes.port);
    probes.number("answered", out.probes.answered);
    probes.number("refused", out.probes.refused);
  });
  in.list("counters", [&](const Reader &counter) {
    auto &[name, value] = out.counters.emplace_back();
    counter.text("name", name);
    counter.number("value", value);
  });
  return out;
}

} // namespace

std::string status_to_json(const Status &status) {
  const Json out{{"version", status.version},
                 {"socket", status.socket},
                 {"pid", status.pid},
                 {"up_ns", status.up.count()},
                 {"processor_time_ns", status.processor_time.count()},
                 {"turns", status.turns},
                 {"sleeps", status.sleeps},
                 {"ranks_refused", status.ranks_refused},
                 {"max_ranks", status.max_ranks},
                 {"max_ranks_per_user", status.max_ranks_per_user},
                 {"devices", json_of(status.devices)}};
  // Names from drivers need not be UTF-8.
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string indented_json(std::string_view text) {
  // What is nested takes stack to be written.
  constexpr int max_depth = 64;
  bool too_deep = false;
  const auto look = [&](int depth, Json::parse_event_t, Json &) {
    too_deep |= depth > max_depth;
    return !too_deep;
  };
  const Json json = Json::parse(text, look, false);
  return too_deep || json.is_discarded()
             ? std::string(text)
             : json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool status_from_json(std::string_view text, Status &out, std::string &error) {
  out = {};
  try {
    const Json json = Json::parse(text);
    const Reader in(json);
    in.text("version", out.version);
    in.text("socket", out.socket);
    in.number("pid", out.pid);
    in.time("up_ns", out.up);
    in.time("processor_time_ns", out.processor_time);
    in.number("turns", out.turns);
    in.number("sleeps", out.sleeps);
    in.number("ranks_refused", out.ranks_refused);
    in.number("max_ranks", out.max_ranks);
    in.number("max_ranks_per_user", out.max_ranks_per_user);
    in.list("devices", [&](const Reader &device) { out.devices.push_back(device_of(device)); });
  } catch (const std::exception &fault) {
    error = "what dpdkxd has answered can't be read: " + std::string(fault.what());
    return false;
  }
  if (!out.version.empty())
    return true;
  error = "what dpdkxd has answered can't be read: no version";
  return false;
}

} // namespace dpdkx::daemon

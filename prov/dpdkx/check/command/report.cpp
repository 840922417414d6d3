// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/check/command/report.h"

#include "dpdkx/check/responder.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dpdkx::check {

namespace {

using Json = nlohmann::ordered_json;

constexpr Duration quiet_after = std::chrono::milliseconds(500);

Scene scene_of(const Checked &checked, const OwnSide &own) {
  Scene scene;
  scene.host = checked.host;
  scene.port = std::to_string(checked.address.port);
  scene.headers = checked.address.is_v4() ? 28 : 48;
  scene.own_max_datagram = own.max_datagram;
  return scene;
}

double microseconds(Duration d) { return static_cast<double>(d.count()) / 1000; }

std::string cell(const Way &way) {
  return way.asked ? fmt::format("{}/{}", way.heard, way.asked) : "-";
}

Json to_json(const Way &way) {
  return way.asked ? Json{{"asked", way.asked}, {"heard", way.heard}} : Json(nullptr);
}

Json to_json(const SizeResult &size) {
  if (size.size == 0)
    return nullptr;
  return {{"bytes", size.size}, {"to", to_json(size.to)}, {"fro", to_json(size.fro)}};
}

const char *role_of(const Result &result) {
  switch (result.role) {
  case wire::ProbeRole::daemon:
    return "dpdkxd";
  case wire::ProbeRole::checker:
    return "dpdkx-check";
  default:
    return "endpoint";
  }
}

Json to_json(const Checked &checked, const OwnSide &own) {
  const Result &r = checked.result;
  const Scene scene = scene_of(checked, own);
  Json out{{"host", checked.host},
           {"address", to_string(checked.address)},
           {"verdict", name_of(r.verdict)},
           {"well", r.verdict == Verdict::well},
           {"round_trip_us", r.round_trip.count() ? Json(microseconds(r.round_trip)) : Json()},
           {"small", to_json(r.small)},
           {"mtu_sized", to_json(r.standard)},
           {"jumbo", to_json(r.jumbo)},
           {"unasked", r.tried_unasked ? to_json(r.unasked) : Json()}};
  if (r.verdict == Verdict::mtu)
    out["mtu"] = r.largest + scene.headers;
  if (r.max_datagram != 0) {
    out["peer"] = {{"is", role_of(r)},
                   {"mtu", r.max_datagram + scene.headers},
                   {"version_min", r.version_min},
                   {"version_max", r.version_max}};
  }
  out["explanation"] = explain(r, scene);
  if (const std::string words = remark(r, scene); !words.empty())
    out["remark"] = words;
  return out;
}

} // namespace

bool all_well(std::span<const Checked> checked) {
  return std::ranges::all_of(checked,
                             [](const Checked &c) { return c.result.verdict == Verdict::well; });
}

std::string table(std::span<const Checked> checked, const OwnSide &own) {
  std::size_t width = 4;
  for (const Checked &one : checked)
    width = std::max(width, one.host.size());
  std::string out =
      fmt::format("{0:{1}}  {2:>10}  {3:>7}  {4:>8} {5:>8}  {6:>8} {7:>8}  {8}\n", "host", width,
                  "round trip", "small", "MTU to", "fro", "jumbo to", "fro", "verdict");
  for (const Checked &one : checked) {
    const Result &r = one.result;
    const std::string trip =
        r.round_trip.count() ? fmt::format("{:.1f} us", microseconds(r.round_trip)) : "-";
    out += fmt::format("{0:{1}}  {2:>10}  {3:>7}  {4:>8} {5:>8}  {6:>8} {7:>8}  {8}\n", one.host,
                       width, trip, cell(r.small.to), cell(r.standard.to), cell(r.standard.fro),
                       cell(r.jumbo.to), cell(r.jumbo.fro), name_of(r.verdict));
    const Scene scene = scene_of(one, own);
    for (const std::string &words : {explain(r, scene), remark(r, scene)})
      if (!words.empty())
        out += fmt::format("  {}\n", words);
  }
  return out;
}

std::string json(std::span<const Checked> checked, const OwnSide &own) {
  Json hosts = Json::array();
  for (const Checked &one : checked)
    hosts.push_back(to_json(one, own));
  return Json{{"device", own.device},
              {"max_datagram", own.max_datagram},
              {"well", all_well(checked)},
              {"hosts", hosts}}
             .dump(2) +
         "\n";
}

void Askers::asked(const Address &who, const wire::Probe &probe, std::uint32_t len, Time now) {
  auto found = std::ranges::find(askers_, probe.asker, &Asker::id);
  if (found == askers_.end())
    found = askers_.insert(found, {.who = who, .id = probe.asker});
  found->asked = std::max(found->asked, probe.asked + 1);
  found->heard = std::max(found->heard, probe.heard);
  found->largest = std::max(found->largest, len);
  ++found->came;
  found->last = now;
}

std::string Askers::quiet(Time now, bool as_json) {
  std::string out;
  std::erase_if(askers_, [&](const Asker &a) {
    if (now - a.last < quiet_after)
      return false;
    const bool deaf = a.asked >= Responder::deaf_after && a.heard == 0;
    if (as_json)
      out += Json{{"asker", to_string(a.who)}, {"asked", a.asked}, {"came", a.came},
                  {"largest", a.largest},      {"heard", a.heard}, {"deaf", deaf}}
                 .dump() +
             "\n";
    else
      out += fmt::format("{} has asked {} times; {} of these came, of up to {} bytes; it has heard "
                         "{} answers{}\n",
                         to_string(a.who), a.asked, a.came, a.largest, a.heard,
                         deaf ? ": what is sent to it does not arrive; a firewall there, or "
                                "between, must let UDP through"
                              : "");
    return true;
  });
  return out;
}

} // namespace dpdkx::check

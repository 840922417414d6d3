// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/check/result.h"

#include <cerrno>
#include <cstring>

namespace dpdkx::check {

namespace {

using std::to_string;

bool none(const Way &way) { return way.asked != 0 && way.heard == 0; }

std::string unreachable(const Result &r, const Scene &at) {
  if (r.error == EHOSTUNREACH || r.error == ETIMEDOUT)
    return "nobody says that " + at.host +
           " is at some MAC address (ARP, neighbor discovery), nor is there a gateway to it that "
           "does: is the host up and on this network? Else FI_DPDKX_ADDR needs a gateway, or "
           "another prefix or VLAN";
  return "there is no path to it: " + std::string(std::strerror(r.error));
}

std::string silent(const Scene &at) {
  if (at.of_endpoint)
    return "its MAC address, or its gateway's, is known, and nobody answers on UDP port " +
           at.port +
           ": the process has ended or hangs, or a firewall drops UDP to that port, or the "
           "answers; "
           "'dpdkx-check " +
           at.host + "' tells whether others get through";
  return "its MAC address, or its gateway's, is known, and nobody answers on UDP port " + at.port +
         ": does dpdkxd run there, or 'dpdkx-check --listen'? If so, a firewall drops UDP to "
         "port " +
         at.port +
         " of it, or the answers: what is logged there, or the check from there, tells "
         "which";
}

std::string other_key(const Result &r) {
  return r.role == wire::ProbeRole::checker
             ? "it has another FI_DPDKX_AUTH_KEY; set the same on both sides"
             : "it belongs to another job: it has another FI_DPDKX_AUTH_KEY";
}

std::string other_version(const Result &r) {
  return "it speaks " +
         (r.version_min == wire::no_version ? std::string("no version of sessions")
          : r.version_min == r.version_max
              ? "version " + to_string(r.version_min)
              : "versions " + to_string(r.version_min) + " to " + to_string(r.version_max)) +
         " of the protocol, and this is " + to_string(wire::protocol_version) +
         "; install the same dpdkx on both";
}

std::string lost_large(const Result &r, const Scene &at) {
  const SizeResult &size = none(r.standard.to) || none(r.standard.fro) ? r.standard : r.jumbo;
  const bool to = none(size.to), fro = none(size.fro);
  return "small datagrams pass, and those of " + to_string(size.size) + " bytes (MTU " +
         to_string(size.size + at.headers) + ") get lost " +
         (to && fro ? "both ways"
          : to      ? "on the way there"
                    : "on the way back") +
         ": something between carries less; raise its MTU (a switch's, a bridge's), or set "
         "FI_DPDKX_MTU to " +
         to_string(r.largest + at.headers) + " on both sides";
}

std::string one_way(const Result &r, const Scene &at) {
  if (r.hears_it && r.small.to.heard == 0)
    return "what it sends arrives here, and what is sent to it does not: a firewall there, or "
           "between, must let UDP to port " +
           at.port + " through";
  return "answers come back, and packets that nobody has asked for do not: a firewall here, or "
         "between, must let UDP through, to all ports of FI_DPDKX_PORT_RANGE, in both directions";
}

std::string many_lost(const Result &r) {
  Way all;
  for (const SizeResult *size : {&r.small, &r.standard, &r.jumbo})
    for (const Way &way : {size->to, size->fro}) {
      all.asked += way.asked;
      all.heard += way.heard;
    }
  return to_string(all.asked - all.heard) + " of " + to_string(all.asked) +
         " datagrams got lost, of all sizes: a bad cable or port, or too short queues on the way "
         "(FI_DPDKX_RX_DESCRIPTORS)";
}

} // namespace

const char *name_of(Verdict verdict) {
  switch (verdict) {
  case Verdict::well:
    return "well";
  case Verdict::unreachable:
    return "unreachable";
  case Verdict::silent:
    return "silent";
  case Verdict::version:
    return "version";
  case Verdict::key:
    return "key";
  case Verdict::mtu:
    return "MTU";
  case Verdict::one_way:
    return "one way";
  case Verdict::lossy:
    return "lossy";
  }
  return "";
}

std::string explain(const Result &result, const Scene &scene) {
  switch (result.verdict) {
  case Verdict::well:
    return {};
  case Verdict::unreachable:
    return unreachable(result, scene);
  case Verdict::silent:
    return silent(scene);
  case Verdict::version:
    return other_version(result);
  case Verdict::key:
    return other_key(result);
  case Verdict::mtu:
    return lost_large(result, scene);
  case Verdict::one_way:
    return one_way(result, scene);
  case Verdict::lossy:
    return many_lost(result);
  }
  return {};
}

std::string remark(const Result &result, const Scene &scene) {
  if (result.max_datagram == 0 || result.max_datagram == scene.own_max_datagram)
    return {};
  const bool less = result.max_datagram < scene.own_max_datagram;
  return std::string("its device has an MTU of ") + to_string(result.max_datagram + scene.headers) +
         ", this one " + to_string(scene.own_max_datagram + scene.headers) + "; sessions use the " +
         (less ? "former" : "latter");
}

} // namespace dpdkx::check

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a check of one host has found, and what to do about it.
#pragma once

#include "dpdkx/base/clock.h"
#include "dpdkx/wire/probe.h"

#include <cstdint>
#include <string>

namespace dpdkx::check {

enum class Verdict : std::uint8_t {
  well,
  unreachable, // no path: ARP or neighbour discovery fails, or no route
  silent,      // there is a way to the host's MAC address, and nobody answers
  version,     // no common version of the protocol
  key,         // another job's
  mtu,         // small datagrams pass, and large ones don't
  one_way,     // datagrams pass in one direction only, or only those that were asked for
  lossy,       // all sizes pass, and many datagrams don't
};
const char *name_of(Verdict); // "well", "one way"

struct Way {
  std::uint32_t asked = 0, heard = 0;
};

struct SizeResult {
  std::uint32_t size = 0; // of the datagram, bytes; 0: not tried
  Way to{}, fro{};        // of small ones there is no telling apart: both are of the round trip
};

struct Result {
  Verdict verdict = Verdict::silent;
  int error = 0;         // unreachable: why, a positive error number
  Duration round_trip{}; // median of small datagrams; 0: none came back
  SizeResult small{}, standard{}, jumbo{};
  bool tried_unasked = false; // whether unasked packets come in
  Way unasked{};
  std::uint32_t largest = 0; // mtu: bytes of the largest datagram that passes both ways
  bool hears_it = false;     // one_way: the host's own questions arrive here
  // Of the answers:
  wire::ProbeRole role = wire::ProbeRole::endpoint;
  std::uint8_t version_min = 0, version_max = 0;
  std::uint32_t max_datagram = 0; // what its device carries, bytes; 0: unknown
};

// What words need besides: how the host and its port are called, and what IP and UDP add to a
// datagram.
struct Scene {
  std::string host, port;
  std::uint32_t headers = 28;
  std::uint32_t own_max_datagram = 0;
  bool of_endpoint = false; // asked is a process's endpoint, not what a host runs for checks
};

// In a sentence, with what to do; empty for `well`.
std::string explain(const Result &, const Scene &);
// What is worth knowing and no fault; often empty.
std::string remark(const Result &, const Scene &);

} // namespace dpdkx::check

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/report/names.h"

#include "collc/lang/ast.h"

namespace collc {

std::string name_of(operation o) {
  switch (o) {
  case operation::remote_add:
    return "REMOTE_CNTR_ADD";
  case operation::local_add:
    return "CNTR_ADD";
  case operation::write:
    return "WRITE";
  case operation::atomic:
    return "ATOMIC";
  }
  return {};
}

std::string name_of(role r) {
  static constexpr const char *names[] = {"RTR", "DAT", "RTE",   "SIG", "RED",
                                          "END", "DLV", "RAISE", "CHN", "FIN"};
  return names[static_cast<std::size_t>(r)];
}

std::string name_of(const counter_id &c) {
  static constexpr const char *names[] = {"tank",  "transfers", "deliveries",
                                          "ready", "data",      "sent"};
  std::string name = names[static_cast<std::size_t>(c.what)];
  if (c.what >= counter_id::role::ready)
    name += ' ' + std::to_string(c.round);
  else if (c.round > 0)
    name += " (turn " + std::to_string(c.round) + ')';
  if (c.path > 0)
    name += " of path " + std::to_string(c.path);
  return name;
}

std::string signed_text(std::uint64_t value) {
  return std::to_string(static_cast<std::int64_t>(value));
}

std::string text_of(const algorithm &a, const piece &p) {
  return a.buffer_name(p.from.buffer) + '[' + std::to_string(p.from.offset) + ':' +
         std::to_string(p.from.length) + "] to " + a.buffer_name(p.to_buffer) + '[' +
         std::to_string(p.to_offset) + ']';
}

} // namespace collc

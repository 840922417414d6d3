// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sim/common/exchange.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"

namespace sim {

void exchange(World &world, NodeId from, NodeId to, std::size_t size, Duration limit) {
  static std::uint64_t number = 0;
  const std::uint64_t tag = 0xe000'0000'0000'0000 | ++number;
  Op &receive = world.receive(to, size, {.tag = tag, .src = from});
  Op &send = world.send(from, to, bytes_of(size, number), {.tag = tag});
  world.wait(receive, limit);
  world.wait(send, limit);
  CHECK_EQ(send.error(), 0);
  CHECK_EQ(receive.error(), 0);
  verify(std::span(receive.memory).first(size), number);
}

void reach(World &world, NodeId from, NodeId to, std::size_t size, Duration limit) {
  static std::uint64_t number = 0;
  const std::uint64_t tag = 0xf000'0000'0000'0000 | ++number;
  const Time end = world.now() + limit;
  Op &receive = world.receive(to, size, {.tag = tag, .src = from});
  while (!receive.finished()) {
    Op &send = world.send(from, to, bytes_of(size, number), {.tag = tag});
    world.run_until([&] { return receive.finished() || send.error() != 0; }, end - world.now(),
                    "a message to a new life");
  }
  CHECK_EQ(receive.error(), 0);
  verify(std::span(receive.memory).first(size), number);
}

void check_ended(World &world, std::span<Op *const> ops, Duration limit) {
  if (!world.run_until_done(ops, limit))
    FAIL("{}", "operations with a lost peer don't end\n" + world.dump());
  for (const Op *op : ops)
    CHECK_EQ(op->done.size(), 1u);
}

} // namespace sim

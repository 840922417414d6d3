// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What fi_msg(3) and fi_tagged(3) say becomes of receives and messages, in the
// simplest way: two lists, searched from the front.
#pragma once

#include "dpdkx/link/sim/random.h"
#include "sim/common/op.h"

#include <list>
#include <map>
#include <string>

namespace sim {

class MatchingModel {
public:
  struct Message {
    std::uint64_t number;
    fi_addr_t from;
    std::optional<std::uint64_t> tag;
    std::size_t size;
  };

  static bool fits(const ReceiveHow &, fi_addr_t from, std::optional<std::uint64_t> tag);

  void arrive(const Message &);
  // `multi_room`: with FI_MULTI_RECV, given back when less is left.
  void post(Op &, const ReceiveHow &, std::size_t multi_room = 0);
  bool peek(Op &, const ReceiveHow &); // true: it has claimed a message
  void take_claimed(Op &, bool discard);
  void cancel(Op &);
  Op *random_posted(dpdkx::link::sim::Random &) const;

  // What differs between the completions foretold and those that came; empty: nothing.
  std::string compare() const;

private:
  struct Posted {
    Op *op;
    ReceiveHow how;
    std::size_t multi_room, used = 0;
  };
  struct Expected {
    int err;
    std::size_t len;
    std::uint64_t number; // 0: no message
    bool gives_back = false;
    bool bytes = true;      // the message's bytes are in the memory
    bool discarded = false; // the pages don't say which length is told then
  };

  bool deliver(Posted &, const Message &); // true: the receive is used up
  void expect(Op &, const Expected &);
  std::string compare(const Op &, const Expected &, const Done &) const;

  std::list<Posted> posted_;
  std::list<Message> unexpected_;
  std::map<Op *, Message> claimed_;
  std::map<Op *, std::vector<Expected>> expected_;
};

} // namespace sim

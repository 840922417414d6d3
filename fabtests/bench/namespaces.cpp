// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bench/namespaces.h"

#include "bench/child.h"

#include <sstream>

#include <unistd.h>

namespace fabtest {

std::string namespace_pair::name(int side) const { return base_ + (side == 0 ? "a" : "b"); }

bool namespace_pair::ip(const std::string &words) {
  command c{{"ip"}, {}};
  std::istringstream in(words);
  for (std::string word; in >> word;)
    c.words.push_back(word);
  const auto r = run_child(c, std::chrono::seconds(10));
  if (r.status != 0 && error_.empty())
    error_ = "ip " + words + ": " + r.err;
  return r.status == 0;
}

namespace_pair::namespace_pair() : base_("fbench" + std::to_string(getpid())) {
  ok_ = true;
  for (const int side : {0, 1})
    ok_ = ok_ && ip("netns add " + name(side)) && ip("-n " + name(side) + " link set lo up");
  ok_ = ok_ && ip("link add " + interface(0) + " netns " + name(0) + " type veth peer name " +
                  interface(1) + " netns " + name(1));
  for (const int side : {0, 1})
    ok_ = ok_ &&
          ip("-n " + name(side) + " addr add " + address(side) + "/24 dev " + interface(side)) &&
          ip("-n " + name(side) + " link set " + interface(side) + " up");
}

bool namespace_pair::set_mtu(unsigned mtu) {
  for (const int side : {0, 1})
    ok_ = ok_ &&
          ip("-n " + name(side) + " link set " + interface(side) + " mtu " + std::to_string(mtu));
  return ok_;
}

namespace_pair::~namespace_pair() {
  for (const int side : {0, 1})
    ip("netns del " + name(side));
}

} // namespace fabtest

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Two network namespaces joined by a veth pair, as two hosts with a cable; gone when this is.
#pragma once

#include <string>

namespace fabtest {

class namespace_pair {
public:
  namespace_pair(); // needs root; ok() says whether it worked
  ~namespace_pair();
  namespace_pair(const namespace_pair &) = delete;
  namespace_pair &operator=(const namespace_pair &) = delete;

  [[nodiscard]] bool ok() const { return ok_; }
  bool set_mtu(unsigned mtu); // of both ends; 1500 at first
  [[nodiscard]] const std::string &error() const { return error_; }
  [[nodiscard]] std::string names() const { return name(0) + "," + name(1); }
  [[nodiscard]] static std::string interface(int side) { return side == 0 ? "left0" : "right0"; }
  [[nodiscard]] static std::string address(int side) {
    return side == 0 ? "10.99.0.1" : "10.99.0.2";
  }

private:
  [[nodiscard]] std::string name(int side) const;
  bool ip(const std::string &words);

  std::string base_;
  std::string error_;
  bool ok_ = false;
};

} // namespace fabtest

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Devices that one process at a time can use are claimed by an abstract socket
// with the device's name: seen by all processes of the network namespace, and
// gone with the process however it ends.
#pragma once

#include <string>

namespace dpdkx::link {

class Claim {
public:
  Claim() = default;
  Claim(Claim &&) noexcept;
  Claim &operator=(Claim &&) noexcept;
  ~Claim();

  // 0; -EBUSY: taken, by whatever process. Another negative errno: no socket to be had.
  static int take(const std::string &identity, Claim &out);
  // Looks without taking.
  static bool is_taken(const std::string &identity);

  void keep() { fd_ = -1; } // until the process ends

private:
  int fd_ = -1;
};

} // namespace dpdkx::link

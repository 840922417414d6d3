// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What is written to a file descriptor meanwhile.
#pragma once

#include <string>

class Captured {
public:
  explicit Captured(int fd);
  ~Captured();
  Captured(const Captured &) = delete;
  std::string text() const; // so far

private:
  int fd_, file_, before_;
};

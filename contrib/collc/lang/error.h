// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What is wrong with a text or with what was asked for: one line for the user.
#pragma once

#include <stdexcept>
#include <string>

namespace collc {

// Where in a text; both count from 1.
struct place {
  int line = 1, column = 1;
  bool operator==(const place &) const = default;
};

class error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

// The machine has too little of something: counters, their bits, deferred works.
class limit_error : public error {
public:
  using error::error;
};

// What one rank sends and another receives are not the same.
class match_error : public error {
public:
  using error::error;
};

// "FILE:LINE:COLUMN: what".
class text_error : public error {
public:
  text_error(const std::string &file, place at, const std::string &what)
      : error(file + ':' + std::to_string(at.line) + ':' + std::to_string(at.column) + ": " + what),
        at(at) {}
  place at;
};

} // namespace collc

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Runs an algorithm's text for one rank. What its messages, combinations and copies become is up to
// who derives from this.
#pragma once

#include "collc/ir/evaluate.h"
#include "collc/ir/rank_program.h"
#include "collc/ir/request.h"

#include <cstdint>
#include <string>
#include <vector>

namespace collc {

class interpreter {
protected:
  interpreter(const algorithm &a, const request &q, std::int64_t rank);
  ~interpreter() = default;
  interpreter(const interpreter &) = delete;
  interpreter &operator=(const interpreter &) = delete;

  // Throws text_error where the algorithm does what can't be.
  void run();
  void run_body(const std::vector<statement> &body) {
    for (const auto &s : body)
      run_statement(s);
  }

  virtual void send(const statement &s) = 0;
  virtual void receive(const statement &s) = 0;
  virtual void combine(const statement &s) = 0;
  virtual void copy(const statement &s) = 0; // at start, at finish
  virtual void loop(const statement &s);

  // What a statement's parts are, here and now.
  range own_range(const range_text &r);
  piece evaluate(const piece_text &p, bool local);
  std::int64_t peer_of(const statement &s);
  std::int64_t after_of(const statement &s);
  struct bounds {
    std::int64_t from, last, step;
  };
  bounds bounds_of(const statement &s);

  [[nodiscard]] std::int64_t rank() const { return rank_; }
  [[nodiscard]] std::int64_t path() const { return path_; }
  [[nodiscard]] std::int64_t round() const { return round_; }
  // After run(); rounds: -1 where none were stated, or needed.
  [[nodiscard]] std::int64_t rounds() const { return rounds_; }
  [[nodiscard]] const std::vector<std::uint64_t> &sizes() const { return sizes_; }

  evaluator value_;

private:
  void set(const parameter &p);
  std::uint64_t size_of(int buffer);
  std::uint64_t inside(int buffer, std::int64_t offset, std::int64_t length, place at);
  void count_step(place at);
  void run_statement(const statement &s);
  std::int64_t number(const statement &s, const char *what, std::int64_t least);
  std::int64_t stated_rounds();

  const algorithm &a_;
  const request &q_;
  std::int64_t rank_, rounds_ = -1;
  std::vector<std::uint64_t> sizes_; // of the buffers, by number
  std::int64_t path_ = 0, round_ = 0;
  std::uint64_t steps_ = 0;
};

} // namespace collc

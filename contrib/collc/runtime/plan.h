// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A rank's part of a request: the compiled schedule, with the buffers that it moves.
#pragma once

#include "collc/collc.h"
#include "collc/runtime/collective.h"
#include "collc/runtime/combine.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace collc::rt {

// One of a rank's buffers, by the number that the schedule has for it. Where its epochs have memory
// of their own, that of each turn begins a stride after the one before.
struct memory {
  std::byte *start = nullptr;
  std::uint64_t length = 0, stride = 0;

  [[nodiscard]] std::byte *at(unsigned turn) const { return start + turn * stride; }
};

class plan {
public:
  // Compiles, and allocates what the schedule needs besides the caller's buffers. Throws failure.
  plan(const collective_request &asked, std::int64_t ranks, std::int64_t rank);

  [[nodiscard]] std::span<const collc_work> works() const { return works_; }
  [[nodiscard]] std::span<const collc_tank> tanks() const { return tanks_; } // one of each path
  [[nodiscard]] std::span<const memory> buffers() const { return buffers_; }
  // So many tanks of each path, and memories of a buffer, are used in turn.
  [[nodiscard]] unsigned turns() const { return turns_; }
  [[nodiscard]] unsigned turn(std::uint64_t epoch) const {
    return static_cast<unsigned>(epoch % turns_);
  }
  [[nodiscard]] unsigned lag() const { return lag_; } // see collc_lag()
  [[nodiscard]] bool lands() const { return lands_; }
  [[nodiscard]] std::uint64_t whole_length(const memory &m) const {
    return m.length + (turns_ - 1) * m.stride;
  }
  static constexpr unsigned most_turns = 4;
  [[nodiscard]] combination combining() const { return combining_; }
  [[nodiscard]] const std::string &name() const { return name_; }
  // Of all that must be alike on all ranks; one for each thing, in the order of digest_names.
  static constexpr std::size_t digest_count = 9;
  static const char *digest_name(std::size_t i);
  [[nodiscard]] std::span<const std::uint64_t> digests() const { return digests_; }

  // Of buffers 1 and up, which peers write to, or of scratch alone. 0 is the input.
  static constexpr std::size_t first_target = 1, first_scratch = 3;
  [[nodiscard]] bool is_target(std::size_t b) const {
    return b >= (lands_ ? first_scratch : first_target);
  }

  void copy_at_start(unsigned turn) const noexcept;
  void copy_at_finish(unsigned turn) const noexcept;

private:
  struct schedule_freer {
    void operator()(collc_schedule *s) const noexcept { collc_free_schedule(s); }
  };

  void compile(const collective_request &asked, std::int64_t ranks, std::int64_t rank);
  void lay_out(const collective_request &asked);
  void check(std::int64_t ranks, std::int64_t rank) const;
  void check_place(const collc_place &, std::uint64_t length, const char *what) const;
  void copy(std::span<const collc_copy> copies, unsigned turn) const noexcept;

  std::string name_;
  std::unique_ptr<collc_schedule, schedule_freer> schedule_;
  std::span<const collc_work> works_;
  std::span<const collc_tank> tanks_;
  std::span<const collc_copy> start_, finish_;
  unsigned turns_ = 2, lag_ = 0;
  bool lands_ = false;
  std::vector<memory> buffers_;
  std::unique_ptr<std::byte[]> own_; // scratch, and the copy of the input
  const std::byte *input_ = nullptr; // to copy at each start; null: not needed
  combination combining_{};
  std::uint64_t digests_[digest_count]{};
};

} // namespace collc::rt

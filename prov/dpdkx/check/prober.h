// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Asks one host one question after the other, and finds out what passes between
// here and there. Pure logic on a clock that is passed in.
//
// What one side can know: whether small datagrams make the round trip; with
// that, for larger ones, in which direction they get lost; and whether packets
// come in that nobody has asked for. If nothing comes back it knows which
// direction is to blame only if the other side asks, too.
#pragma once

#include "dpdkx/check/result.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace dpdkx::check {

// The nearest size, not above, that a probe's datagram can have.
constexpr std::uint32_t probe_sized(std::uint32_t bytes) {
  return wire::min_probe + ((std::max(bytes, wire::min_probe) - wire::min_probe) & ~3u);
}

class Prober {
public:
  struct Plan {
    std::uint64_t id = 0; // of this asker, drawn at random
    wire::ProbeRole role = wire::ProbeRole::checker;
    std::uint64_t key = 0;          // wire::probe_key()
    std::uint32_t max_datagram = 0; // what the own link carries
    std::uint32_t standard = 1472;  // what an MTU of 1500 carries
    std::uint16_t second_port = 0;  // where unasked packets would come; 0: not tried
    Duration patience = std::chrono::milliseconds(500);
    Duration pace = std::chrono::milliseconds(1); // between a question's answer and the next
  };

  explicit Prober(const Plan &plan);

  // No path to the host, a negative errno: it is done.
  void path_failed(int error);
  // The next question, if it is due.
  std::optional<wire::Probe> next(Time now);
  void answered(const wire::Probe &answer, std::uint32_t len, bool at_second_port, Time now);
  void asked_by_host() { hears_it_ = true; } // it asks us

  std::uint64_t id() const { return plan_.id; }
  bool done() const { return step_ == Step::finished; }
  Time due() const; // when next() has something to do; never: done
  Result result() const;

private:
  enum class Step : std::uint8_t {
    small,
    standard_to,
    standard_fro,
    jumbo_to,
    jumbo_fro,
    search, // for the largest that passes
    unasked,
    finished,
  };
  struct Trial {
    std::uint32_t question = 0, answer = 0; // sizes
    bool to_second_port = false;
    unsigned tries = 0;       // at most
    unsigned enough_lost = 0; // lost in a row from the start: then no more
    bool one_suffices = false;
    std::uint32_t first_sequence = 0;
    std::uint32_t answered = 0; // bit i: the question of sequence first_sequence + i
    Way way;
  };

  void begin(Step);
  void begin_search();
  void after_trial();
  Step after(Step) const;
  void look(Time now); // whether the last question, or the trial, is over
  bool over() const;
  Duration patience() const;
  void set_sizes();
  bool failed(const SizeResult &size) const;
  void judge();

  const Plan plan_;
  Step step_ = Step::small;
  Trial trial_;
  std::uint32_t sequence_ = 0, heard_ = 0;
  bool waiting_ = false; // for an answer
  Time sent_at_{}, not_before_{};
  std::uint32_t passes_ = 0, fails_ = 0; // search: sizes
  std::optional<wire::Probe> last_;      // the newest answer
  std::vector<Duration> round_trips_;
  bool hears_it_ = false;
  Result result_;
};

} // namespace dpdkx::check

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Checks of many hosts at once over the ports of one device: one that asks, one
// at which unasked packets would come, and, where it is free, one that answers
// others' questions.
#pragma once

#include "dpdkx/check/prober.h"
#include "dpdkx/check/responder.h"
#include "dpdkx/link/link.h"

#include <functional>
#include <memory>
#include <unordered_map>

namespace dpdkx::check {

class Run {
public:
  struct Ports {
    std::unique_ptr<link::Port> asks;    // null: nobody is to be asked
    std::unique_ptr<link::Port> unasked; // may be null
    std::unique_ptr<link::Port> answers; // may be null
  };
  // Somebody has asked us.
  using OnQuestion =
      std::function<void(const Address &who, const wire::Probe &, std::uint32_t len)>;

  Run(Ports, const wire::KeyDigest &key, std::uint64_t seed = 0); // seed: as in Responder

  // Begins to check a host at a port of it. Answers its number; results come in that order.
  std::size_t add(const Address &host);
  void on_question(OnQuestion f) { on_question_ = std::move(f); }

  bool turn(Time now); // true: something has happened
  bool done() const { return open_ == 0; }
  // Hosts to which there is no path yet are unreachable.
  void give_up_unreached();
  Time due() const; // when the next question is, if nothing comes in before
  Result result(std::size_t host) const;
  const link::Port &port() const { return ports_.asks ? *ports_.asks : *ports_.answers; }

  // Around a sleep of the caller's, on fds(): arm() answers false if there is something to do.
  std::vector<int> fds() const; // empty: some port can't wake anybody
  bool arm();
  void disarm();

private:
  struct Host {
    Address address;
    Prober prober;
    link::PathId path = link::PathId::none;
    bool up = false;
    bool counted = false; // as done
  };

  void look_at_paths(Time now);
  bool poll(link::Port &, Time now);
  void take(link::Port &, const link::RxDatagram &, Time now);
  void take_answer(link::Port &, const link::RxDatagram &, const wire::Probe &, Time now);
  void take_question(link::Port &, const link::RxDatagram &, const wire::Probe &);
  bool ask(Host &, Time now);
  void finish(Host &);
  template <class F> void each_port(F &&) const;

  Ports ports_;
  const std::uint64_t key_;
  const std::uint64_t id_; // of the first host's asker
  Responder responder_;
  OnQuestion on_question_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::unordered_map<std::uint32_t, Host *> by_path_;
  std::size_t open_ = 0;
};

} // namespace dpdkx::check

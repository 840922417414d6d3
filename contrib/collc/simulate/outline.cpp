// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/simulate/outline.h"

#include "collc/ir/interpreter.h"

#include <unordered_map>
#include <utility>

namespace collc {

namespace {

class outlining : interpreter {
public:
  outlining(const algorithm &a, const uniform_loops &loops, const request &q, std::int64_t rank)
      : interpreter(a, q, rank), loops_(loops) {}

  outline run() {
    interpreter::run();
    for (const std::uint64_t size : sizes())
      put(static_cast<std::int64_t>(size));
    return std::move(out_);
  }

private:
  void put(std::int64_t v) { out_.shape.push_back(v); }
  void put(const statement &s) {
    put(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&s)));
    if (others_ != nullptr)
      for (const int slot : *others_)
        put(value_.slot(slot));
  }

  void put_message(const statement &s) {
    put(s);
    put(channel({static_cast<std::uint32_t>(peer_of(s)), static_cast<std::uint32_t>(path())}));
    put(path());
    put(round());
    put(after_of(s));
  }

  void send(const statement &s) override {
    put_message(s);
    for (const auto &p : s.pieces)
      put(static_cast<std::int64_t>(evaluate(p, false).from.length));
  }
  void receive(const statement &s) override {
    put_message(s);
    for (const auto &p : s.pieces)
      put(static_cast<std::int64_t>(own_range(p.from).length));
  }
  void combine(const statement &s) override {
    put(s);
    put(path());
    put(round());
    put(static_cast<std::int64_t>(evaluate(s.pieces.front(), true).from.length));
  }
  void copy(const statement &s) override {
    put(s);
    put(static_cast<std::int64_t>(evaluate(s.pieces.front(), true).from.length));
  }

  void loop(const statement &s) override {
    const std::vector<int> *const others = others_ == nullptr ? loops_.find(s) : nullptr;
    if (others == nullptr) {
      interpreter::loop(s);
      return;
    }
    const bounds b = bounds_of(s);
    if (b.step > 0 ? b.from > b.last : b.from < b.last)
      return;
    value_.slot(s.variable) = b.from;
    others_ = others;
    put(s);
    put(b.from);
    put(b.last);
    put(b.step);
    run_body(s.body);
    others_ = nullptr;
    put(end_of_loop);
  }

  std::int64_t channel(channel_key k) {
    constexpr std::size_t many = 24;
    auto &all = out_.channels;
    if (all.size() <= many) {
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i] == k)
          return static_cast<std::int64_t>(i);
    } else {
      for (std::size_t i = numbers_.size(); i < all.size(); ++i)
        numbers_.emplace(word(all[i]), i);
      if (const auto at = numbers_.find(word(k)); at != numbers_.end())
        return static_cast<std::int64_t>(at->second);
    }
    all.push_back(k);
    return std::ssize(all) - 1;
  }
  static std::uint64_t word(channel_key k) { return std::uint64_t{k.path} << 32 | k.peer; }

  static constexpr std::int64_t end_of_loop = -1; // no statement is there
  const uniform_loops &loops_;
  outline out_;
  std::unordered_map<std::uint64_t, std::size_t> numbers_; // of channels, where they are many
  const std::vector<int> *others_ = nullptr;               // within a uniform loop
};

} // namespace

outline outline_of(const algorithm &a, const uniform_loops &loops, const request &q,
                   std::int64_t rank) {
  return outlining(a, loops, q, rank).run();
}

} // namespace collc

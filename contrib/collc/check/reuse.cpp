// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/check/reuse.h"

#include <algorithm>
#include <deque>
#include <sstream>
#include <unordered_set>
#include <utility>

namespace collc {

namespace {

class search {
public:
  search(const world &w, const reuse_options &o) : model_(w, o), options_(o) {}

  reuse_result run() {
    seen_.insert(model_.key(model_.first()));
    steps_.push_back({});
    waiting_.emplace_back(model_.first(), 0);
    while (!waiting_.empty()) {
      auto [s, step] = std::move(waiting_.front());
      waiting_.pop_front();
      const auto all = model_.next(s);
      if (all.empty() && !model_.over(s))
        return {{found("nothing more can happen, and not all ranks are complete", step)},
                seen_.size()};
      for (const happening &h : all)
        if (const std::string wrong = visit(s, h, step); !wrong.empty())
          return {{found(wrong, steps_.size() - 1)}, seen_.size()};
    }
    return {{}, seen_.size()};
  }

private:
  struct step {
    std::size_t before = 0;
    happening what;
  };

  std::string visit(const reuse_model::state &before, const happening &h, std::size_t step) {
    reuse_model::state s = before;
    const std::string wrong = model_.apply(s, h, nullptr);
    if (wrong.empty() && !seen_.insert(model_.key(s)).second)
      return {};
    if (seen_.size() > options_.most_states)
      throw error("--epochs: more than " + std::to_string(options_.most_states) +
                  " states (--max-states); none of those that were looked at is wrong");
    steps_.push_back({step, h});
    if (wrong.empty())
      waiting_.emplace_back(std::move(s), steps_.size() - 1);
    return wrong;
  }

  finding found(const std::string &wrong, std::size_t last) const {
    std::vector<happening> order;
    for (std::size_t i = last; i != 0; i = steps_[i].before)
      order.push_back(steps_[i].what);
    std::ranges::reverse(order);
    finding f{"reuse", wrong, {}};
    auto s = model_.first();
    std::string word;
    for (const happening &h : order) {
      model_.apply(s, h, &f.trace);
      word += (word.empty() ? "" : " ") + text_of(h);
    }
    f.trace.push_back("to see it again: --replay '" + word + "'");
    return f;
  }

  reuse_model model_;
  reuse_options options_;
  std::unordered_set<std::string> seen_;
  std::vector<step> steps_;
  std::deque<std::pair<reuse_model::state, std::size_t>> waiting_;
};

} // namespace

reuse_result check_reuse(const world &w, const reuse_options &o) { return search(w, o).run(); }

std::vector<std::string> replay(const world &w, const reuse_options &o, const std::string &order) {
  const reuse_model model(w, o);
  auto s = model.first();
  std::vector<std::string> log;
  std::istringstream in(order);
  for (std::string word; in >> word;) {
    const auto all = model.next(s);
    const auto h = std::ranges::find(all, word, [](const happening &x) { return text_of(x); });
    if (h == all.end()) {
      std::string can;
      for (const happening &x : all)
        can += ' ' + text_of(x);
      throw error("--replay: '" + word +
                  "' can't happen then; what can:" + (can.empty() ? " nothing" : can));
    }
    if (const std::string wrong = model.apply(s, *h, &log); !wrong.empty()) {
      log.push_back("wrong: " + wrong);
      break;
    }
  }
  return log;
}

} // namespace collc

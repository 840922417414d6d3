// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/collc.h"

#include "collc/lang/builtin.h"
#include "collc/lang/parser.h"
#include "collc/lower/landing.h"
#include "collc/lower/lower.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

struct collc_compiler {
  std::string text;
  collc::algorithm source;
  std::unique_ptr<collc::compiler> compiler;
};

struct collc_schedule {
  std::vector<collc_work> works;
  std::vector<collc_tank> tanks;
  std::vector<std::uint64_t> scratch;
  std::vector<collc_copy> start, finish;
  std::uint32_t turns = 0, lag = 0;
};

namespace collc {

namespace {

// Runs it; what it throws becomes the message.
template <typename Call> int guarded(char **message, Call call) {
  std::string what;
  try {
    call();
    return 0;
  } catch (const std::exception &e) {
    what = e.what();
  }
  if (message != nullptr)
    *message = strdup(what.c_str());
  return -1;
}

request asked_for(const collc_request &r) {
  request q;
  q.ranks = r.ranks;
  q.root = r.root;
  q.bytes = r.bytes;
  for (std::size_t i = 0; i < r.parameter_count; ++i)
    q.parameters[r.parameters[i].name] = r.parameters[i].value;
  if (r.ready != COLLC_READY_DEFAULT)
    q.ready = static_cast<readiness>(static_cast<int>(r.ready) - COLLC_READY_EACH);
  return q;
}

lowering how_of(const collc_request &r, collective what) {
  lowering how;
  how.how = r.scheme == COLLC_PREMATCHED ? scheme::prematched : scheme::water_tank;
  how.ordered = (r.flags & COLLC_UNORDERED) == 0;
  how.wait_for_delivery = (r.flags & COLLC_WAIT_FOR_DELIVERY) != 0;
  how.own_start = (r.flags & COLLC_OWN_START) != 0;
  how.counted_writes = (r.flags & COLLC_ADD_ARRIVALS) == 0;
  how.raise_for_branches = (r.flags & COLLC_SHORT_BRANCHES) == 0;
  if ((r.flags & COLLC_LANDING) != 0)
    let_land(how, what);
  if (r.width != 0)
    how.width = r.width;
  if (r.most_works != 0)
    how.most_works = r.most_works;
  if (r.most_counters != 0)
    how.most_counters = r.most_counters;
  how.combining = find_atomic(r.operation == nullptr ? "sum" : r.operation,
                              r.type == nullptr ? "double" : r.type);
  return how;
}

// The enumerations are the same, in the same order.
collc_counter counter_of(const counter_id &c) {
  return {static_cast<collc_counter_kind>(c.what), c.path, c.round};
}

collc_work work_of(const work &w) {
  collc_work out{};
  out.trigger = counter_of(w.trigger);
  out.threshold = w.threshold;
  out.operation = static_cast<collc_operation>(w.what);
  out.peer = w.peer;
  out.value = w.value;
  out.target = counter_of(w.target);
  out.completion = counter_of(w.completion);
  out.from = {w.moved.from.buffer, w.moved.from.offset};
  out.to = {w.moved.to_buffer, w.moved.to_offset};
  out.length = w.moved.from.length;
  out.window = w.window;
  out.ahead = w.ahead;
  return out;
}

std::vector<collc_copy> copies_of(const std::vector<piece> &pieces) {
  std::vector<collc_copy> out;
  for (const piece &p : pieces)
    out.push_back({{p.from.buffer, p.from.offset}, {p.to_buffer, p.to_offset}, p.from.length});
  return out;
}

std::unique_ptr<collc_schedule> lowered(compiler &c, std::int64_t rank) {
  const rank_program p = c.program(rank);
  const rank_schedule s = c.schedule(p);
  auto out = std::make_unique<collc_schedule>();
  for (const work &w : s.works)
    out->works.push_back(work_of(w));
  for (const tank &t : s.tanks) {
    const bool emptied = std::ranges::any_of(
        s.works, [&](const work &w) { return w.why == role::finish && w.target == t.id; });
    out->tanks.push_back(
        {counter_of(t.id), t.start, t.full, emptied ? 1 : 0, t.told, c.how().ahead});
  }
  out->scratch.assign(p.sizes.begin() + first_scratch, p.sizes.end());
  out->turns = c.how().tanks;
  out->lag = c.how().lag;
  out->start = copies_of(p.start);
  out->finish = copies_of(p.finish);
  return out;
}

template <typename T> std::size_t hand_out(const std::vector<T> &all, const T **begin) {
  *begin = all.data();
  return all.size();
}

} // namespace

} // namespace collc

#pragma GCC visibility push(default)

int collc_open(const char *name, const collc_request *request, collc_compiler **compiler,
               char **message) {
  return collc::guarded(message, [&] {
    if (request->size < sizeof *request)
      throw collc::error("collc_request.size is " + std::to_string(request->size) + "; at least " +
                         std::to_string(sizeof *request) + " is needed");
    auto c = std::make_unique<collc_compiler>();
    c->text = collc::text_of(name);
    c->source = collc::parse(c->text, name);
    c->compiler = std::make_unique<collc::compiler>(c->source, collc::asked_for(*request),
                                                    collc::how_of(*request, c->source.what));
    *compiler = c.release();
  });
}

void collc_close(collc_compiler *compiler) { delete compiler; }

const char *collc_collective(const collc_compiler *compiler) {
  return collc::name_of(compiler->source.what);
}
const char *collc_text(const collc_compiler *compiler) { return compiler->text.c_str(); }

int collc_lower(collc_compiler *compiler, std::int64_t rank, collc_schedule **schedule,
                char **message) {
  return collc::guarded(message,
                        [&] { *schedule = collc::lowered(*compiler->compiler, rank).release(); });
}

void collc_free_schedule(collc_schedule *schedule) { delete schedule; }
void collc_free_message(char *message) { std::free(message); }

std::size_t collc_works(const collc_schedule *s, const collc_work **works) {
  return collc::hand_out(s->works, works);
}
std::size_t collc_tanks(const collc_schedule *s, const collc_tank **tanks) {
  return collc::hand_out(s->tanks, tanks);
}
std::size_t collc_scratch(const collc_schedule *s, const std::uint64_t **sizes) {
  return collc::hand_out(s->scratch, sizes);
}
std::uint32_t collc_turns(const collc_schedule *s) { return s->turns; }
std::uint32_t collc_lag(const collc_schedule *s) { return s->lag; }
std::size_t collc_start_copies(const collc_schedule *s, const collc_copy **copies) {
  return collc::hand_out(s->start, copies);
}
std::size_t collc_finish_copies(const collc_schedule *s, const collc_copy **copies) {
  return collc::hand_out(s->finish, copies);
}

#pragma GCC visibility pop

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A request's counters, regions, and works, which are made once.
#include "collc/runtime/error.h"
#include "collc/runtime/offload/offload.h"

#include <algorithm>

namespace collc::rt {

offload_runner::offload_runner(offload_transport &t, const plan &p) : transport_(t), plan_(p) {
  transfers_.cntr = t.open_counter();
  if (p.lands())
    for (unsigned turn = 0; turn < p.turns(); ++turn)
      moves_[turn].cntr = t.open_counter();
  open_tanks();
  open_buffers();
  if (std::ranges::any_of(p.works(),
                          [](const collc_work &w) { return w.operation == COLLC_ATOMIC; }))
    (void)t.most_elements(p.combining()); // says so here if there is none
}

offload_runner::~offload_runner() = default;

// The last of a tank's works, which takes back what has come. The runtime does that when it finds
// the tank full, and spares a message to itself.
bool offload_runner::empties(const collc_work &w) {
  const std::uint64_t full = tank_of(w.trigger.path).full;
  return w.operation == COLLC_REMOTE_CNTR_ADD && w.peer == transport_.rank() &&
         w.target.path == w.trigger.path && w.threshold == full && w.value == 0 - full;
}

void offload_runner::open_tanks() {
  for (const collc_tank &k : plan_.tanks()) {
    tank &mine = tanks_.emplace_back();
    mine.path = k.counter.path;
    mine.start = k.start;
    mine.full = k.full;
    mine.told = k.told;
    mine.ahead = k.ahead;
    tank_name &name = names_.tanks.emplace_back();
    name.path = mine.path;
    for (unsigned turn = 0; turn < plan_.turns(); ++turn) {
      mine.cntr[turn] = transport_.open_counter();
      name.key[turn] = transport_.export_counter(mine.cntr[turn].get());
    }
  }
}

// What is read here must be registered for some providers only.
void offload_runner::open_buffers() {
  fabric &f = transport_.on();
  const auto buffers = plan_.buffers();
  regions_.resize(buffers.size());
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const memory &m = buffers[b];
    const bool target = plan_.is_target(b);
    buffer_name name;
    const bool read = b == 0 && !plan_.lands() && f.needs(FI_MR_LOCAL);
    if (m.length > 0 && (target || read)) {
      regions_[b] =
          f.reg(m.start, plan_.whole_length(m), FI_WRITE | (target ? FI_REMOTE_WRITE : 0));
      name.key = fi_mr_key(regions_[b].get());
      name.start = f.needs(FI_MR_VIRT_ADDR) ? reinterpret_cast<std::uintptr_t>(m.start) : 0;
      name.stride = m.stride;
    }
    if (b >= plan::first_target)
      names_.buffers.push_back(name);
  }
}

void offload_runner::connect(const std::vector<runner_names> &all) {
  for (unsigned turn = 0; turn < plan_.turns(); ++turn)
    make(entries_[turn], all, turn);
}

void offload_runner::make(entries &to, const std::vector<runner_names> &all, unsigned turn) {
  // Entries hold pointers into themselves: they must not move.
  std::size_t count = 0;
  for (const collc_work &w : plan_.works())
    count +=
        w.operation == COLLC_ATOMIC
            ? w.length / plan_.combining().size / transport_.most_elements(plan_.combining()) + 1
            : 1;
  to.reserve(count);
  for (const collc_work &w : plan_.works())
    if (w.operation == COLLC_WRITE || w.operation == COLLC_ATOMIC)
      move(to, w, all, turn);
    else if (!empties(w))
      add(to, w, all, turn);
}

offload_runner::tank &offload_runner::tank_of(std::int64_t path) {
  return *std::ranges::find(tanks_, path, &tank::path);
}

offload_runner::entry &offload_runner::put(entries &to, const collc_work &w, unsigned turn,
                                           completions &counted) {
  entry &e = to.emplace_back();
  e.work.threshold = w.threshold;
  e.work.triggering_cntr = tank_of(w.trigger.path).cntr[turn].get();
  e.work.completion_cntr = counted.cntr.get();
  e.counted = &counted;
  return e;
}

void offload_runner::add(entries &to, const collc_work &w, const std::vector<runner_names> &all,
                         unsigned turn) {
  entry &e = put(to, w, turn, transfers_);
  if (w.operation == COLLC_CNTR_ADD) {
    e.work.completion_cntr = nullptr;
    e.counted = nullptr;
    e.raise = {tank_of(w.target.path).cntr[turn].get(), w.value};
    e.work.op_type = FI_OP_CNTR_ADD;
    e.work.op.cntr = &e.raise;
    return;
  }
  const auto &there = all[static_cast<std::size_t>(w.peer)].tanks;
  const auto target = std::ranges::find(there, w.target.path, &tank_name::path);
  // That it leaves will do: a peer that fails says so by other means.
  e.add = {transport_.on().ep(),
           transport_.on().at(w.peer),
           target->key[(turn + w.ahead) % plan_.turns()],
           w.value,
           FI_TRANSMIT_COMPLETE,
           nullptr};
  fi_dpdkx_set_remote_cntr_add(&e.work, &e.add);
}

void offload_runner::move(entries &to, const collc_work &w, const std::vector<runner_names> &all,
                          unsigned turn) {
  if (w.length == 0)
    return;
  const auto from = static_cast<std::size_t>(w.from.buffer),
             target = static_cast<std::size_t>(w.to.buffer) - plan::first_target;
  std::byte *const source = plan_.buffers()[from].at(turn) + w.from.offset;
  void *const desc = regions_[from] ? fi_mr_desc(regions_[from].get()) : nullptr;
  const buffer_name &there = all[static_cast<std::size_t>(w.peer)].buffers[target];
  const std::uint64_t at = there.start + turn * there.stride + w.to.offset;
  if (w.operation == COLLC_WRITE) {
    entry &e = put(to, w, turn, of_moves(turn));
    e.from = {source, w.length};
    e.to = {at, w.length, there.key};
    e.desc = desc;
    e.write = {};
    e.write.ep = transport_.on().ep();
    e.write.msg = {&e.from, &e.desc, 1, transport_.on().at(w.peer), &e.to, 1, nullptr, 0};
    e.work.op_type = FI_OP_WRITE;
    e.work.op.rma = &e.write;
    return;
  }
  const combination &c = plan_.combining();
  const std::size_t most = transport_.most_elements(c);
  for (std::uint64_t done = 0, count = w.length / c.size; done < count; done += most) {
    const std::size_t now = std::min<std::uint64_t>(most, count - done);
    entry &e = put(to, w, turn, of_moves(turn));
    e.from_elements = {source + done * c.size, now};
    e.to_elements = {at + done * c.size, now, there.key};
    e.desc = desc;
    e.atomic = {};
    e.atomic.ep = transport_.on().ep();
    e.atomic.msg = {&e.from_elements, &e.desc, 1,      transport_.on().at(w.peer),
                    &e.to_elements,   1,       c.type, c.operation,
                    nullptr,          0};
    e.work.op_type = FI_OP_ATOMIC;
    e.work.op.atomic = &e.atomic;
  }
}

} // namespace collc::rt

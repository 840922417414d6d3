// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/check/memory.h"

#include <algorithm>

namespace collc {

namespace {

contents moved_by(contents c, std::int64_t moved) {
  for (origin &o : c)
    o.shift -= moved;
  return c;
}

} // namespace

memory::memory(std::uint64_t size) : size_(size) {
  if (size > 0)
    parts_[0] = {size, {}, -1};
}

// Makes a part begin there.
void memory::split(std::uint64_t at) {
  if (at == 0 || at >= size_)
    return;
  const auto part = std::prev(parts_.upper_bound(at));
  if (part->first == at)
    return;
  const value after = part->second;
  part->second.end = at;
  parts_[at] = after;
}

void memory::set(const stretch &s) {
  if (s.begin == s.end)
    return;
  split(s.begin);
  split(s.end);
  parts_.erase(parts_.lower_bound(s.begin), parts_.lower_bound(s.end));
  parts_[s.begin] = {s.end, s.of, s.by};
}

std::vector<stretch> memory::read(std::uint64_t offset, std::uint64_t length) const {
  std::vector<stretch> out;
  const std::uint64_t end = offset + length;
  if (length == 0)
    return out;
  for (auto part = std::prev(parts_.upper_bound(offset)); part != parts_.end() && part->first < end;
       ++part)
    out.push_back({std::max(part->first, offset), std::min(part->second.end, end), part->second.of,
                   part->second.by});
  return out;
}

bool memory::write(const std::vector<stretch> &what, std::int64_t moved, std::int64_t by) {
  bool all = true;
  for (const stretch &s : what) {
    all &= !s.of.empty();
    set({s.begin + static_cast<std::uint64_t>(moved), s.end + static_cast<std::uint64_t>(moved),
         moved_by(s.of, moved), by});
  }
  return all;
}

bool memory::combine(const std::vector<stretch> &what, std::int64_t moved, std::int64_t by) {
  bool all = true;
  for (const stretch &s : what) {
    const contents theirs = moved_by(s.of, moved);
    for (stretch mine : read(s.begin + static_cast<std::uint64_t>(moved), s.end - s.begin)) {
      all &= !mine.of.empty() && !theirs.empty();
      mine.of.insert(mine.of.end(), theirs.begin(), theirs.end());
      std::ranges::sort(mine.of);
      mine.by = by;
      set(mine);
    }
  }
  return all;
}

std::string text_of(const contents &c, std::uint64_t at) {
  if (c.empty())
    return "nothing";
  std::string text;
  for (const origin &o : c)
    text += (text.empty() ? "" : " with ") + std::string("byte ") +
            std::to_string(static_cast<std::int64_t>(at) + o.shift) + " of rank " +
            std::to_string(o.rank);
  return text;
}

} // namespace collc

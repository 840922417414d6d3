// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/run/data.h"

#include <algorithm>
#include <cstring>

namespace collc::run {

namespace {

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 31;
  x *= 0x9e3779b97f4a7c15;
  return x ^ x >> 29;
}

// The word at a place of a rank's block.
std::uint64_t word_of(std::uint64_t epoch, std::int64_t rank, std::int64_t block, std::size_t at) {
  return mix(mix(mix(epoch + 1) + static_cast<std::uint64_t>(rank)) +
             (static_cast<std::uint64_t>(block) << 40) + at);
}

} // namespace

data::data(const shape &s, std::int64_t rank) : shape_(s), rank_(rank) {
  const auto size = [&](const std::vector<block> &blocks) { return blocks.size() * s.bytes; };
  in_.resize(size(given()));
  out_.resize(size(expected()));
}

std::vector<data::block> data::given() const {
  const bool root = rank_ == shape_.root;
  switch (shape_.what) {
  case collective::barrier:
  case collective::broadcast:
    return {};
  case collective::scatter:
    if (!root)
      return {};
    [[fallthrough]];
  case collective::alltoall: {
    std::vector<block> blocks;
    for (std::int64_t i = 0; i < shape_.ranks; ++i)
      blocks.push_back({rank_, i});
    return blocks;
  }
  default:
    return {{rank_}};
  }
}

std::vector<data::block> data::expected() const {
  const bool root = rank_ == shape_.root;
  std::vector<block> blocks;
  switch (shape_.what) {
  case collective::barrier:
    break;
  case collective::broadcast:
    blocks = {{shape_.root}};
    break;
  case collective::scatter:
    blocks = {{shape_.root, rank_}};
    break;
  case collective::alltoall:
    for (std::int64_t i = 0; i < shape_.ranks; ++i)
      blocks.push_back({i, rank_});
    break;
  case collective::gather:
    if (!root)
      break;
    [[fallthrough]];
  case collective::allgather:
    for (std::int64_t i = 0; i < shape_.ranks; ++i)
      blocks.push_back({i});
    break;
  case collective::reduce:
    if (!root)
      break;
    [[fallthrough]];
  case collective::allreduce:
    blocks = {{-1}};
    break;
  }
  return blocks;
}

void data::write(std::vector<std::byte> &to, const std::vector<block> &blocks,
                 std::uint64_t epoch) const {
  std::byte *at = to.data();
  for (const block &b : blocks)
    for (std::size_t i = 0; i < shape_.bytes; i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      if (b.from >= 0)
        word = word_of(epoch, b.from, b.index, i);
      else
        for (std::int64_t rank = 0; rank < shape_.ranks; ++rank)
          word += word_of(epoch, rank, 0, i);
      const std::size_t n = std::min<std::size_t>(sizeof word, shape_.bytes - i);
      std::memcpy(at, &word, n);
      at += n;
    }
}

void data::fill(std::uint64_t epoch) {
  write(in_, given(), epoch);
  std::fill(out_.begin(), out_.end(), std::byte{0xee});
  if (shape_.what == collective::broadcast && rank_ == shape_.root)
    write(out_, {{rank_}}, epoch);
}

bool data::right(std::uint64_t epoch) const {
  std::vector<std::byte> wanted(out_.size());
  write(wanted, expected(), epoch);
  return wanted == out_;
}

} // namespace collc::run

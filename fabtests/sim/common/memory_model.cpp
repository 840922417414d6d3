// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sim/common/memory_model.h"

#include "sim/common/check.h"

#include <algorithm>
#include <cstring>

namespace sim {

namespace {

struct Operation {
  fi_op op;
  bool compares;
};
constexpr Operation operations[] = {
    {FI_SUM, false},         {FI_MIN, false},  {FI_MAX, false},
    {FI_BOR, false},         {FI_BXOR, false}, {FI_ATOMIC_WRITE, false},
    {FI_ATOMIC_READ, false}, {FI_CSWAP, true}, {FI_MSWAP, true}};

struct Type {
  fi_datatype datatype;
  std::size_t size;
};
constexpr Type types[] = {{FI_UINT8, 1}, {FI_UINT16, 2}, {FI_UINT32, 4}, {FI_UINT64, 8}};

std::uint64_t number_at(const std::byte *from, std::size_t size) {
  std::uint64_t n = 0;
  std::memcpy(&n, from, size);
  return n;
}

std::uint64_t result_of(fi_op op, std::uint64_t there, std::uint64_t operand,
                        std::uint64_t compare) {
  switch (op) {
  case FI_SUM:
    return there + operand;
  case FI_MIN:
    return std::min(there, operand);
  case FI_MAX:
    return std::max(there, operand);
  case FI_BOR:
    return there | operand;
  case FI_BXOR:
    return there ^ operand;
  case FI_ATOMIC_WRITE:
    return operand;
  case FI_ATOMIC_READ:
    return there;
  case FI_CSWAP:
    return there == compare ? operand : there;
  case FI_MSWAP:
    return (operand & compare) | (there & ~compare);
  default:
    FAIL("the model knows no operation {}", static_cast<int>(op));
  }
}

} // namespace

void MemoryModel::write(std::size_t addr, const Bytes &bytes) {
  std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(addr));
}

MemoryModel::Bytes MemoryModel::read(std::size_t addr, std::size_t n) const {
  const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(addr);
  return {from, from + static_cast<std::ptrdiff_t>(n)};
}

MemoryModel::Bytes MemoryModel::execute(const Atomic &a) {
  const std::size_t size = std::ranges::find(types, a.datatype, &Type::datatype)->size;
  const Bytes former = read(a.addr, a.operand.size());
  for (std::size_t at = 0; at < former.size(); at += size) {
    const std::uint64_t compare = a.compare.empty() ? 0 : number_at(a.compare.data() + at, size);
    const std::uint64_t becomes = result_of(a.op, number_at(former.data() + at, size),
                                            number_at(a.operand.data() + at, size), compare);
    std::memcpy(bytes_.data() + a.addr + at, &becomes, size);
  }
  return former;
}

MemoryModel::Atomic MemoryModel::random_atomic(dpdkx::link::sim::Random &random, std::size_t size,
                                               std::size_t most) {
  const auto [op, compares] = operations[random.below(std::size(operations))];
  const Type type = types[random.below(std::size(types))];
  const std::size_t n = random.between(1, most / type.size) * type.size;
  // Values that often meet.
  const auto values = [&] {
    Bytes bytes(n);
    for (std::byte &b : bytes)
      b = static_cast<std::byte>(random.chance(0.8) ? 0 : random.below(4));
    return bytes;
  };
  Atomic a{op,
           type.datatype,
           compares || op == FI_ATOMIC_READ || random.chance(0.5),
           random.below((size - n) / type.size + 1) * type.size,
           values(),
           {}};
  if (compares)
    a.compare = values();
  return a;
}

} // namespace sim

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A frame to bytes and back, and what tests ask of it.
#pragma once

#include "unit/wire/any.h"

#include <array>
#include <cstring>
#include <memory>

namespace frames {

using namespace dpdkx::wire;

// In memory of exactly its size, so that AddressSanitizer sees what is read beyond.
struct Exact {
  explicit Exact(std::size_t n) : size(n), data(new std::byte[n]()) {}
  std::span<const std::byte> span() const { return {data.get(), size}; }
  std::size_t size;
  std::unique_ptr<std::byte[]> data;
};

template <class F> Exact encoded(const F &f, std::size_t size, std::size_t payload = 0) {
  Exact e(size + payload);
  RC_ASSERT(encode(e.data.get(), f) == e.data.get() + size);
  for (std::size_t i = 0; i < payload; ++i)
    e.data[size + i] = std::byte(i * 7);
  return e;
}

// That every proper prefix of a frame is refused.
inline void refuses_prefixes(const Exact &whole) {
  const std::size_t n = any::below(whole.size);
  if (n == 0)
    return;
  Exact cut(n);
  std::memcpy(cut.data.get(), whole.data.get(), n);
  std::span<const std::byte> in = cut.span();
  Frame f;
  RC_ASSERT(decode_frame(in, f) == FrameResult::malformed);
}

inline Frame decoded(const Exact &e, FrameType type) {
  std::span<const std::byte> in = e.span();
  Frame f;
  RC_ASSERT(decode_frame(in, f) == FrameResult::frame);
  RC_ASSERT(f.type == type);
  RC_ASSERT(in.empty());
  refuses_prefixes(e);
  return f;
}

inline bool refused(std::span<const std::byte> in) {
  Frame f;
  return decode_frame(in, f) == FrameResult::malformed;
}

template <class F> bool frame_refused(const F &f) {
  std::array<std::byte, 4096> d{};
  encode(d.data(), f);
  return refused(d);
}

} // namespace frames

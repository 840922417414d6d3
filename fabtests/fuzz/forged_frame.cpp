// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "fuzz/forged_frame.h"

#include "dpdkx/wire/packet.h"

namespace fuzz {

using namespace dpdkx::wire;

namespace {

using Place = std::function<harness::RemoteHow(std::size_t)>;

constexpr std::size_t most_payload = 1200;

Targets targets(Input &in, const Place &place) {
  Targets t;
  t.count = in.byte() % (max_targets + 1);
  for (unsigned i = 0; i < t.count; ++i) {
    const std::size_t size = in.byte() & 1 ? in.word() : in.byte() % 64u;
    const harness::RemoteHow at = place(size);
    t.at[i] = {at.addr, size, at.key};
  }
  return t;
}

template <class Frame> std::vector<std::byte> encoded(const Frame &f, std::size_t payload) {
  std::vector<std::byte> bytes(size_of(f) + payload);
  encode(bytes.data(), f);
  return bytes;
}

} // namespace

std::vector<std::byte> forged_frame(Input &in, dpdkx::MessageNumber mn, const Place &place) {
  const std::uint8_t kind = in.byte() % 4;
  const Targets t = targets(in, place);
  if (kind == 0) {
    WriteFrame f;
    f.mn = mn;
    f.targets = t;
    f.flags = in.byte() & (frame_flag::cq_data | frame_flag::more);
    f.len = static_cast<std::uint16_t>((f.flags & frame_flag::more ? in.word() : t.total()) %
                                       most_payload);
    return encoded(f, f.len);
  }
  if (kind == 1) {
    WriteRequestFrame f;
    f.mn = mn;
    f.targets = t;
    f.sender = static_cast<OpId>(in.byte());
    return encoded(f, 0);
  }
  if (kind == 2) {
    ReadFrame f;
    f.mn = mn;
    f.targets = t;
    f.reader = static_cast<OpId>(in.byte());
    return encoded(f, 0);
  }
  AtomicFrame f;
  f.mn = mn;
  f.targets = t;
  f.op = in.byte() % 20;
  f.datatype = in.byte() % 20;
  f.kind = in.byte() % 3;
  f.len = static_cast<std::uint16_t>(t.total() * (f.kind == 2 ? 2 : 1) % most_payload);
  f.reader = static_cast<OpId>(f.kind ? in.byte() : 0);
  return encoded(f, f.len);
}

} // namespace fuzz

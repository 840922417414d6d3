// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/acknowledger.h"

#include "unit/property.h"
#include "unit/unit.h"

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

using namespace dpdkx;
using namespace dpdkx::daemon;
using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

namespace {

constexpr Duration after = 100us;

wire::Token local_token(std::uint32_t path, std::uint32_t life = 0) {
  return wire::Token{0x1000 + path + 16 * life};
}
wire::Token peer_token(std::uint32_t path, std::uint32_t life = 0) {
  return wire::Token{0x2000 + path + 16 * life};
}

Bytes packet(wire::Token token, PacketNumber pn, std::uint8_t flags = 0,
             wire::PacketType type = wire::PacketType::data) {
  wire::PacketHeader header;
  header.type = type;
  header.token = token;
  header.pn = pn;
  header.flags = flags | wire::packet_flag::checksummed;
  Bytes out(wire::packet_header_size + 8);
  wire::encode(out.data(), header);
  wire::seal(out);
  return out;
}

// What a rank sends: an ack block and nothing else.
Bytes acknowledgement(wire::Token token, const wire::AckBlock &block, bool checksummed = true) {
  wire::PacketHeader header;
  header.type = wire::PacketType::ack;
  header.token = token;
  header.flags = wire::packet_flag::ack_block;
  if (checksummed)
    header.flags |= wire::packet_flag::checksummed;
  Bytes out(wire::packet_header_size + block.wire_size());
  wire::encode(wire::encode(out.data(), header), block);
  if (checksummed)
    wire::seal(out);
  return out;
}

// A ring of datagrams that stay where they are until they are read, and what is acknowledged.
struct Lab {
  Acknowledger acknowledger{after};
  Time now{1h};
  std::deque<Bytes> ring;
  std::uint64_t end = 0, read = 0;

  void session(std::uint32_t path, std::uint32_t life = 0) {
    acknowledger.session(path, local_token(path, life), peer_token(path, life));
  }
  void sent(std::uint32_t path, const wire::AckBlock &block, std::uint32_t life = 0) {
    acknowledger.sent(path, acknowledgement(peer_token(path, life), block));
  }
  void sent(std::uint32_t path, std::uint32_t cumulative) {
    wire::AckBlock block{};
    block.cumulative = PacketNumber{cumulative};
    block.processed = MessageNumber{7};
    block.credit_limit = 9;
    sent(path, block);
  }
  void comes(std::uint32_t path, Bytes bytes) {
    ring.push_back(std::move(bytes));
    end += 64;
    acknowledger.delivered(path, ring.back(), end, now);
  }
  void reads(unsigned n) {
    for (; n != 0 && !ring.empty(); --n) {
      ring.pop_front();
      read += 64;
    }
    acknowledger.read_up_to(read, now);
  }
  struct Sent {
    wire::PacketHeader header;
    wire::AckBlock block{};
  };
  std::map<std::uint32_t, Sent> acknowledge() {
    std::map<std::uint32_t, Sent> out;
    if (!acknowledger.due(now))
      return out;
    acknowledger.acknowledge([&](std::uint32_t path, std::span<const std::byte> datagram) {
      RC_ASSERT(datagram.size() <= Acknowledger::max_datagram);
      RC_ASSERT(wire::verify(datagram));
      RC_ASSERT(out.find(path) == out.end());
      const auto header = wire::decode_header(datagram);
      RC_ASSERT(header.has_value());
      Sent &sent = out[path];
      sent.header = *header;
      RC_ASSERT(wire::decode_ack(datagram, sent.block));
    });
    return out;
  }
};

bool says(const wire::AckBlock &block, PacketNumber pn) {
  const std::int32_t ahead = pn - block.cumulative;
  if (ahead < 0)
    return true;
  const auto bit = static_cast<std::uint32_t>(ahead) - 1;
  return ahead > 0 && bit < 64u * block.sack_words && (block.sack[bit / 64] >> bit % 64 & 1) != 0;
}

} // namespace

static void packets__that_lie_there_are_acknowledged(void **) {
  Lab lab;
  lab.session(3);
  lab.sent(3, 100);
  lab.comes(3, packet(local_token(3), PacketNumber{100}));
  lab.comes(3, packet(local_token(3), PacketNumber{101}));
  lab.comes(3, packet(local_token(3), PacketNumber{103}));
  lab.reads(0);
  assert_false(lab.acknowledger.due(lab.now));
  lab.now += after;
  const auto got = lab.acknowledge();
  assert_int_equal(got.size(), 1);
  const Lab::Sent &ack = got.at(3);
  assert_true(ack.header.type == wire::PacketType::ack);
  assert_true(ack.header.token == peer_token(3));
  assert_int_equal(ack.header.flags, wire::packet_flag::ack_block | wire::packet_flag::checksummed);
  assert_int_equal(ack.block.cumulative.value, 102);
  assert_int_equal(ack.block.sack_words, 1);
  assert_int_equal(ack.block.sack[0], 1);
  // That they have been processed is the rank's to say.
  assert_int_equal(ack.block.processed.value, 7);
  assert_int_equal(ack.block.credit_limit, 9);
  assert_int_equal(ack.block.delay_us, wire::AckBlock::delay_unknown);
  // Once; what comes now is acknowledged at once.
  assert_false(lab.acknowledger.due(lab.now));
  lab.comes(3, packet(local_token(3), PacketNumber{102}));
  const auto more = lab.acknowledge();
  assert_int_equal(more.at(3).block.cumulative.value, 104);
  assert_int_equal(more.at(3).block.sack_words, 0);
}

static void packets__of_no_known_session_are_left_alone(void **) {
  Lab lab;
  lab.session(0);
  lab.comes(0, packet(local_token(0), PacketNumber{0})); // it has acknowledged nothing so far
  lab.sent(0, 0);
  lab.session(1);
  lab.sent(1, 0);
  lab.comes(1, packet(local_token(2), PacketNumber{0}));
  lab.comes(7, packet(local_token(7), PacketNumber{0}));
  lab.comes(1, packet(local_token(1), PacketNumber{0}, 0, wire::PacketType::bye));
  lab.comes(1, packet(local_token(1), PacketNumber{0}, 0, wire::PacketType::ack));
  lab.comes(1, Bytes(3));
  lab.now += after;
  const auto got = lab.acknowledge();
  assert_int_equal(got.size(), 1); // of path 0, whose block has come since
  assert_int_equal(got.at(0).block.cumulative.value, 1);
  lab.session(1);
  lab.acknowledger.sent(1, acknowledgement(peer_token(2), {})); // of another session
  lab.acknowledger.sent(1, packet(peer_token(1), PacketNumber{0}));
  lab.acknowledger.sent(9, {});
  lab.comes(1, packet(local_token(1), PacketNumber{0}));
  assert_true(lab.acknowledge().empty());
}

static void packet__that_asks_is_answered(void **) {
  Lab lab;
  lab.session(0);
  lab.sent(0, 5);
  lab.comes(0, packet(local_token(0), PacketNumber{0}, wire::packet_flag::ack_now,
                      wire::PacketType::ack));
  lab.now += after;
  assert_int_equal(lab.acknowledge().at(0).block.cumulative.value, 5);
}

static void packet__that_is_corrupt_is_not_acknowledged(void **) {
  Lab lab;
  lab.session(0);
  lab.sent(0, 0);
  for (std::size_t at = 0; at < packet(local_token(0), PacketNumber{0}).size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bytes = packet(local_token(0), PacketNumber{0});
      bytes[at] ^= std::byte(1 << bit);
      lab.comes(0, std::move(bytes)); // one of them has no mark of a checksum any more
    }
  lab.now += after;
  assert_true(lab.acknowledge().empty());
}

static void packet__needs_no_checksum_where_the_rank_sends_none(void **) {
  Lab lab;
  lab.session(0);
  lab.acknowledger.sent(0, acknowledgement(peer_token(0), {}, false));
  Bytes bytes = packet(local_token(0), PacketNumber{0});
  wire::PacketHeader header;
  header.token = local_token(0);
  wire::encode(bytes.data(), header);
  lab.comes(0, std::move(bytes));
  lab.now += after;
  assert_int_equal(lab.acknowledge().at(0).block.cumulative.value, 1);
}

static void rank__that_reads_acknowledges_by_itself(void **) {
  Lab lab;
  lab.session(0);
  lab.sent(0, 0);
  for (std::uint32_t pn = 0; pn < 100; ++pn)
    lab.comes(0, packet(local_token(0), PacketNumber{pn}));
  // However much lies there, and however long.
  for (int i = 0; i < 90; ++i) {
    lab.now += after / 2;
    lab.reads(1);
    assert_false(lab.acknowledger.due(lab.now));
  }
  lab.now += after;
  assert_true(lab.acknowledger.due(lab.now));
  assert_int_equal(lab.acknowledge().at(0).block.cumulative.value, 0);
}

static void position__is_asked_for_now_and_then(void **) {
  Lab lab;
  lab.session(0);
  lab.sent(0, 0);
  lab.reads(0);
  lab.now += after;
  assert_false(lab.acknowledger.looks(lab.now)); // nothing lies there
  lab.reads(0);
  lab.comes(0, packet(local_token(0), PacketNumber{0}));
  assert_false(lab.acknowledger.looks(lab.now));
  lab.now += after / 4;
  assert_true(lab.acknowledger.looks(lab.now));
  lab.reads(0);
  assert_false(lab.acknowledger.looks(lab.now));
  lab.now += 3 * after / 4;
  assert_true(lab.acknowledger.looks(lab.now) && lab.acknowledger.due(lab.now));
  lab.acknowledge();
  lab.comes(0, packet(local_token(0), PacketNumber{1})); // to one that computes
  assert_true(lab.acknowledger.looks(lab.now));
  lab.reads(2);
  lab.now += after;
  assert_false(lab.acknowledger.looks(lab.now));
}

// A rank reads, says nothing and computes again: peers ignore an ack of less than an earlier one.
static void acknowledgement__takes_nothing_back(void **) {
  Lab lab;
  lab.session(0);
  lab.sent(0, 0);
  for (const std::uint32_t pn : {0, 1, 2, 70})
    lab.comes(0, packet(local_token(0), PacketNumber{pn}));
  lab.now += after;
  assert_int_equal(lab.acknowledge().at(0).block.cumulative.value, 3);
  lab.reads(4);
  lab.comes(0, packet(local_token(0), PacketNumber{4}));
  lab.now += after;
  const wire::AckBlock again = lab.acknowledge().at(0).block;
  assert_int_equal(again.cumulative.value, 3);
  assert_true(says(again, PacketNumber{4}) && says(again, PacketNumber{70}));
  // It says part of it, of which the rest makes more.
  lab.reads(1);
  wire::AckBlock block{};
  block.cumulative = PacketNumber{3};
  block.sack_words = 1;
  block.sack[0] = 0b110; // 5 and 6
  lab.sent(0, block);
  lab.comes(0, packet(local_token(0), PacketNumber{3}));
  lab.now += after;
  const wire::AckBlock both = lab.acknowledge().at(0).block;
  assert_int_equal(both.cumulative.value, 7);
  assert_true(says(both, PacketNumber{70}) && !says(both, PacketNumber{69}));
}

static void session__that_is_replaced_is_forgotten(void **) {
  Lab lab;
  lab.session(0);
  lab.sent(0, 0);
  lab.comes(0, packet(local_token(0), PacketNumber{0}));
  lab.session(0, 1); // the path's number names another now
  lab.sent(0, {}, 1);
  lab.comes(0, packet(local_token(0, 1), PacketNumber{0}));
  lab.now += after;
  const auto got = lab.acknowledge();
  assert_true(got.at(0).header.token == peer_token(0, 1));
  assert_int_equal(got.at(0).block.cumulative.value, 1);
  lab.comes(0, packet(local_token(0, 1), PacketNumber{1}));
  lab.acknowledger.session(0, wire::Token::none, wire::Token::none);
  assert_true(lab.acknowledge().empty());
}

// Ranks that send, read and compute; networks that repeat, reorder, lose and corrupt; paths whose
// numbers get other sessions. Whatever is acknowledged, the rank has read, or it lies whole in the
// ring. Whatever lies whole in the ring of a known session that it could hold, is, and whatever
// was.
static void acknowledged__is_what_lies_in_the_ring(void **) {
  assert_true(unit::holds("acknowledged is what lies in the ring", [] {
    struct Session {
      std::uint32_t life = 0;
      wire::AckBlock block{}; // the rank's last
      bool has_block = false;
      std::set<std::uint32_t> had;          // by the rank's own word, from `base` on
      std::set<std::uint32_t> acknowledged; // in its name
    };
    struct Lying {
      std::uint32_t path, life, pn;
      bool whole;
      bool passed = false; // when the rank had acknowledged nothing yet: then it is sent again
    };
    constexpr std::uint32_t paths = 3;
    Lab lab;
    Session of[paths];
    std::deque<Lying> lying;
    const auto base = static_cast<std::uint32_t>(*rc::gen::inRange(-1200, 1200));
    const auto reach = *rc::gen::element<std::uint32_t>(4, 70, 300, 1023, 1100);
    for (std::uint32_t path = 0; path < paths; ++path)
      lab.session(path);
    const auto steps = *rc::gen::inRange(0, 300);
    for (int i = 0; i < steps; ++i) {
      const auto path = *rc::gen::inRange<std::uint32_t>(0, paths);
      Session &session = of[path];
      switch (*rc::gen::weightedElement<int>({{12, 0}, {3, 1}, {3, 2}, {1, 3}, {5, 4}})) {
      case 0: { // something comes
        const std::uint32_t pn = base + *rc::gen::inRange<std::uint32_t>(0, reach);
        const bool whole = *rc::gen::inRange(0, 8) != 0;
        Bytes bytes = packet(local_token(path, session.life), PacketNumber{pn});
        if (!whole)
          bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] ^= std::byte{4};
        lab.comes(path, std::move(bytes));
        lying.push_back({path, session.life, pn, whole});
        break;
      }
      case 1: { // the rank reads
        const auto n = *rc::gen::inRange(1u, 20u);
        for (unsigned k = 0; k < n && !lying.empty(); ++k) {
          const Lying &first = lying.front();
          if (first.whole && of[first.path].life == first.life)
            of[first.path].had.insert(first.pn - base);
          lying.pop_front();
        }
        lab.reads(n);
        break;
      }
      case 2: { // and says what it has
        wire::AckBlock block{};
        std::uint32_t next = 0;
        while (session.had.count(next) != 0)
          ++next;
        block.cumulative = PacketNumber{base + next};
        for (const std::uint32_t pn : session.had)
          if (pn > next && pn - next - 1 < 64u * wire::AckBlock::max_sack_words) {
            block.sack_words = static_cast<std::uint8_t>((pn - next - 1) / 64 + 1);
            block.sack[(pn - next - 1) / 64] |= std::uint64_t{1} << (pn - next - 1) % 64;
          }
        lab.sent(path, block, session.life);
        session.block = block;
        session.has_block = true;
        break;
      }
      case 3: // another session
        session = {.life = session.life + 1,
                   .block = {},
                   .has_block = false,
                   .had = {},
                   .acknowledged = {}};
        lab.session(path, session.life);
        break;
      default: { // time goes by
        lab.now += *rc::gen::element<Duration>(1us, 60us, 100us, 1ms);
        const auto got = lab.acknowledge();
        for (Lying &l : lying)
          l.passed |= !of[l.path].has_block;
        for (const auto &[number, ack] : got) {
          Session &to = of[number];
          RC_ASSERT(to.has_block);
          RC_ASSERT(ack.header.token == peer_token(number, to.life));
          for (std::uint32_t pn = 0; pn < reach + 70; ++pn) {
            const PacketNumber at{base + pn};
            if (!says(ack.block, at)) {
              RC_ASSERT(to.acknowledged.count(pn) == 0);
              continue;
            }
            to.acknowledged.insert(pn);
            bool lies = false;
            for (const Lying &l : lying)
              lies |= l.whole && l.path == number && l.life == to.life && l.pn == at.value;
            RC_ASSERT(lies || to.had.count(pn) != 0);
          }
          if (reach < session::ReceiveWindow::size)
            for (const Lying &l : lying)
              if (l.whole && !l.passed && l.path == number && l.life == to.life)
                RC_ASSERT(says(ack.block, PacketNumber{l.pn}));
        }
      }
      }
    }
  }));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(packets__that_lie_there_are_acknowledged),
    cmocka_unit_test(packets__of_no_known_session_are_left_alone),
    cmocka_unit_test(packet__that_asks_is_answered),
    cmocka_unit_test(packet__that_is_corrupt_is_not_acknowledged),
    cmocka_unit_test(packet__needs_no_checksum_where_the_rank_sends_none),
    cmocka_unit_test(rank__that_reads_acknowledges_by_itself),
    cmocka_unit_test(position__is_asked_for_now_and_then),
    cmocka_unit_test(acknowledgement__takes_nothing_back),
    cmocka_unit_test(session__that_is_replaced_is_forgotten),
    cmocka_unit_test(acknowledged__is_what_lies_in_the_ring),
};
static const unit::Group group{"acknowledger", cases};

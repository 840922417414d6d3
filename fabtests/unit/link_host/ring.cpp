// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/host/ring.h"
#include "dpdkx/link/host/segment.h"
#include "unit/unit.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

using namespace dpdkx::link::host;

namespace {

// Both ends of a ring in one thread.
struct Ring {
  static constexpr std::uint32_t size = 8192;
  Fd memfd;
  Segment segment;
  RingMemory memory;
  RingProducer tx;
  RingConsumer rx;

  explicit Ring(std::uint64_t start = 0, std::uint32_t max_datagram = ring_capacity(size)) {
    assert_int_equal(Segment::create(size, segment, memfd), 0);
    memory = segment.ring(End::acceptor);
    *memory.head = start;
    tx = RingProducer(memory, start);
    rx = RingConsumer(memory, start, max_datagram);
  }

  bool put(std::uint32_t len, std::uint8_t fill, bool staged = false) {
    std::byte *const data = tx.reserve(len);
    if (data == nullptr)
      return false;
    std::memset(data, fill, len);
    if (staged)
      tx.stage(len);
    else
      tx.commit(len);
    return true;
  }

  RingConsumer::Next get(std::uint32_t &len, std::uint8_t &fill) {
    const std::byte *data;
    const RingConsumer::Next next = rx.next(data, len);
    if (next != RingConsumer::Next::datagram)
      return next;
    fill = len == 0 ? 0 : static_cast<std::uint8_t>(data[0]);
    for (std::uint32_t i = 0; i < len; ++i)
      assert_int_equal(static_cast<std::uint8_t>(data[i]), fill);
    return next;
  }

  std::uint64_t *word(std::uint64_t position) const {
    return reinterpret_cast<std::uint64_t *>(memory.bytes + position % size);
  }

  RingConsumer::Next next() {
    const std::byte *data;
    std::uint32_t len;
    return rx.next(data, len);
  }
};

} // namespace

static void record__takes_whole_lines(void **) {
  assert_int_equal(record_bytes(0), 64);
  assert_int_equal(record_bytes(56), 64);
  assert_int_equal(record_bytes(57), 128);
  assert_int_equal(record_bytes(120), 128);
}

static void ring__is_mapped_twice(void **) {
  const Ring ring;
  ring.memory.bytes[5] = std::byte{7};
  assert_int_equal(static_cast<int>(ring.memory.bytes[5 + Ring::size]), 7);
  ring.memory.bytes[2 * Ring::size - 1] = std::byte{9};
  assert_int_equal(static_cast<int>(ring.memory.bytes[Ring::size - 1]), 9);
}

static void ring__payload_is_aligned_to_8(void **) {
  Ring ring;
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(reinterpret_cast<std::uintptr_t>(ring.tx.reserve(100)) % 8, 0);
    ring.tx.commit(100);
  }
}

static void ring__empty_has_no_datagram(void **) {
  Ring ring;
  assert_true(ring.rx.empty());
  assert_true(ring.next() == RingConsumer::Next::none);
}

static void ring__reserved_is_not_yet_published(void **) {
  Ring ring;
  std::memset(ring.tx.reserve(200), 0xff, 200);
  assert_true(ring.next() == RingConsumer::Next::none);
  ring.tx.commit(200);
  assert_true(ring.next() == RingConsumer::Next::datagram);
}

static void ring__commit_may_be_shorter_than_reserve(void **) {
  Ring ring;
  std::mt19937 random(3);
  for (int step = 0; step < 20000; ++step) {
    const std::uint32_t reserved = random() % 2000, len = random() % (reserved + 1);
    std::byte *const data = ring.tx.reserve(reserved);
    assert_non_null(data);
    std::memset(data, 0xff, reserved);
    if (random() % 4 == 0) // cancelled
      continue;
    ring.tx.commit(len);
    const std::byte *received;
    std::uint32_t received_len;
    assert_true(ring.rx.next(received, received_len) == RingConsumer::Next::datagram);
    assert_int_equal(received_len, len);
    assert_true(ring.next() == RingConsumer::Next::none);
    ring.rx.release();
  }
}

static void ring__full_refuses_until_release(void **) {
  Ring ring;
  int count = 0;
  while (ring.put(56, 1))
    ++count;
  assert_int_equal(count, (Ring::size - bytes_ahead) / 64); // the rest stays free
  std::uint32_t len;
  std::uint8_t fill;
  assert_true(ring.get(len, fill) == RingConsumer::Next::datagram);
  assert_false(ring.put(56, 1)); // read, but not released
  ring.rx.release();
  assert_true(ring.put(56, 1));
  assert_false(ring.put(56, 1));
}

static void ring__holds_its_largest_datagram(void **) {
  Ring ring;
  const std::uint32_t most = ring_capacity(Ring::size);
  for (int i = 1; i < 200; ++i) {
    assert_true(ring.put(most, static_cast<std::uint8_t>(i)));
    assert_false(ring.put(0, 0));
    std::uint32_t len;
    std::uint8_t fill;
    assert_true(ring.get(len, fill) == RingConsumer::Next::datagram);
    assert_int_equal(len, most);
    assert_int_equal(fill, i);
    ring.rx.release();
  }
}

// Every line of every datagram begins with the word that would make it a record
// in the next lap.
static void ring__stale_bytes_are_no_records(void **) {
  Ring ring;
  std::mt19937 random(5);
  for (int step = 0; step < 100000; ++step) {
    const std::uint32_t len = random() % 4 == 0 ? random() % 4000 : random() % 500;
    const std::uint64_t position = ring.tx.position();
    std::byte *const data = ring.tx.reserve(len);
    assert_non_null(data);
    for (std::uint32_t line = 64; line <= len; line += 64) {
      const std::uint64_t word = publish_word(position + line + Ring::size, 40);
      std::memcpy(data + line - 8, &word, std::min<std::size_t>(8, len + 8 - line));
    }
    ring.tx.commit(len);
    const std::byte *received;
    std::uint32_t received_len;
    assert_true(ring.rx.next(received, received_len) == RingConsumer::Next::datagram);
    assert_int_equal(received_len, len);
    assert_true(ring.next() == RingConsumer::Next::none);
    ring.rx.release();
  }
}

// What is staged comes when it is published, or before.
static void random_traffic(std::uint64_t start, std::uint32_t seed, bool staged = false) {
  Ring ring(start);
  std::mt19937 random(seed);
  std::deque<std::pair<std::uint32_t, std::uint8_t>> under_way;
  std::size_t unpublished = 0; // at most
  for (int step = 0; step < 200000; ++step) {
    if (random() % 2 == 0) {
      const std::uint32_t len = random() % 3 == 0 ? random() % 3000 : random() % 130;
      const auto fill = static_cast<std::uint8_t>(len == 0 ? 0 : random());
      if (ring.put(len, fill, staged)) {
        under_way.emplace_back(len, fill);
        unpublished += staged;
      } else {
        assert_false(under_way.empty() && ring.rx.released());
      }
    } else if (staged && random() % 8 == 0) {
      ring.tx.publish();
      unpublished = 0;
    } else {
      std::uint32_t len;
      std::uint8_t fill;
      const RingConsumer::Next next = ring.get(len, fill);
      assert_true(next != RingConsumer::Next::corrupt);
      if (next == RingConsumer::Next::none)
        assert_true(under_way.size() <= unpublished);
      else
        assert_false(under_way.empty());
      if (next == RingConsumer::Next::datagram) {
        ring.rx.fetch_ahead(random() % 4 == 0);
        assert_int_equal(len, under_way.front().first);
        assert_int_equal(fill, under_way.front().second);
        under_way.pop_front();
      }
      if (random() % 4 == 0)
        ring.rx.release();
    }
  }
}

static void ring__keeps_order_and_bytes(void **) {
  const std::uint32_t seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  random_traffic(0, seed);
  random_traffic(0, seed, true);
}

// Where the low 32 bits of the line number wrap, and where all 64 do.
static void ring__position_wraps(void **) {
  random_traffic((std::uint64_t{1} << 38) - 64'000, 1);
  random_traffic(std::uint64_t{0} - 64'000, 2);
  random_traffic(std::uint64_t{0} - 64'000, 3, true);
}

static void ring__staged_is_visible_when_published(void **) {
  Ring ring;
  for (const std::uint8_t fill : {1, 2, 3})
    assert_true(ring.put(100, fill, true));
  assert_true(ring.rx.empty());
  assert_true(ring.next() == RingConsumer::Next::none);
  ring.tx.publish();
  for (const std::uint8_t fill : {1, 2, 3}) {
    std::uint32_t len = 0;
    std::uint8_t got = 0;
    assert_true(ring.get(len, got) == RingConsumer::Next::datagram);
    assert_true(len == 100 && got == fill);
  }
  ring.tx.publish(); // of nothing
  assert_true(ring.next() == RingConsumer::Next::none);
}

// The consumer begins before the producer has done with all that it has.
static void ring__staged_is_not_held_back_for_long(void **) {
  Ring ring;
  unsigned put = 0;
  for (; put * record_bytes(100) < RingProducer::most_staged; ++put) {
    assert_true(ring.rx.empty());
    assert_true(ring.put(100, 1, true));
  }
  for (unsigned got = 0; got < put; ++got)
    assert_true(ring.next() == RingConsumer::Next::datagram);
  assert_true(ring.put(100, 1, true));
  assert_true(ring.next() == RingConsumer::Next::none);
  assert_true(ring.put(3000, 1, true)); // a large one
  assert_true(ring.next() == RingConsumer::Next::datagram);
}

static void consumer__refuses_what_no_producer_writes(void **) {
  const std::uint64_t bad[] = {
      1ull << 32 | 9,              // another position's
      publish_word(0, 1001),       // longer than agreed
      publish_word(0, 0xfffffffe), // the longest there is
      0xffffffffull << 32,         // no length
      1ull << 63,                  // either
      ~0ull,
  };
  for (const std::uint64_t word : bad) {
    Ring ring(0, 1000);
    *ring.word(0) = word;
    assert_true(ring.next() == RingConsumer::Next::corrupt);
  }
}

// More records than fit between the consumer's head and itself.
static void consumer__refuses_records_beyond_a_lap(void **) {
  Ring ring;
  std::uint64_t position = 0;
  for (; position < Ring::size - bytes_ahead; position += 64) {
    *ring.word(position) = publish_word(position, 8);
    assert_true(ring.next() == RingConsumer::Next::datagram);
  }
  *ring.word(position) = publish_word(position, 8);
  assert_true(ring.next() == RingConsumer::Next::corrupt);
}

static void producer__refuses_a_head_that_no_consumer_writes(void **) {
  for (const std::uint64_t head :
       {std::uint64_t{4} * Ring::size, ~std::uint64_t{0}, std::uint64_t{999}}) {
    Ring ring(1024);
    while (ring.put(100, 1)) {
    }
    assert_false(ring.tx.corrupt());
    *ring.memory.head = head;
    assert_null(ring.tx.reserve(100));
    assert_true(ring.tx.corrupt());
  }
}

static void producer__drained_when_all_is_released(void **) {
  Ring ring;
  assert_true(ring.tx.drained());
  assert_true(ring.put(8, 1));
  assert_false(ring.tx.drained());
  assert_true(ring.next() == RingConsumer::Next::datagram);
  assert_false(ring.tx.drained());
  ring.rx.release();
  assert_true(ring.tx.drained());
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(record__takes_whole_lines),
    cmocka_unit_test(ring__is_mapped_twice),
    cmocka_unit_test(ring__payload_is_aligned_to_8),
    cmocka_unit_test(ring__empty_has_no_datagram),
    cmocka_unit_test(ring__reserved_is_not_yet_published),
    cmocka_unit_test(ring__commit_may_be_shorter_than_reserve),
    cmocka_unit_test(ring__staged_is_visible_when_published),
    cmocka_unit_test(ring__staged_is_not_held_back_for_long),
    cmocka_unit_test(ring__full_refuses_until_release),
    cmocka_unit_test(ring__holds_its_largest_datagram),
    cmocka_unit_test(ring__stale_bytes_are_no_records),
    cmocka_unit_test(ring__keeps_order_and_bytes),
    cmocka_unit_test(ring__position_wraps),
    cmocka_unit_test(consumer__refuses_what_no_producer_writes),
    cmocka_unit_test(consumer__refuses_records_beyond_a_lap),
    cmocka_unit_test(producer__refuses_a_head_that_no_consumer_writes),
    cmocka_unit_test(producer__drained_when_all_is_released),
};
static const unit::Group group{"link_host.ring", cases};

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What each call promises, on either kind of link, with the peer and the
// network at their least convenient.
#include "sim/common/case.h"
#include "sim/common/each_link.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <algorithm>

namespace {

using namespace sim;

// Sizes that go by each way: whole, in parts, by rendezvous.
constexpr std::size_t sizes[] = {0, 1, 100, 1300, 5'000, 30'000, 200'000};

void expect_ok(World &world, Op &op) {
  world.wait(op);
  CHECK_EQ(op.error(), 0);
  CHECK_EQ(op.done.size(), 1u);
}

void expect_message(World &world, Op &receive, std::size_t size, std::uint64_t number) {
  expect_ok(world, receive);
  CHECK_EQ(receive.done[0].len, size);
  verify(std::span(receive.memory).first(size), number);
}

const Case truncation{"semantics__truncation", 2, on_each_link([](World &world) {
                        for (const bool posted : {true, false})
                          for (const std::size_t size : sizes) {
                            if (size == 0)
                              continue;
                            const std::size_t room = size / 3;
                            Op *receive = posted ? &world.receive(1, room, {.tag = 1}) : nullptr;
                            Op &send = world.send(0, 1, bytes_of(size, size), {.tag = 1});
                            Op &next = world.send(0, 1, bytes_of(size, size + 1), {.tag = 1});
                            if (!posted) {
                              world.run_for(5ms);
                              receive = &world.receive(1, room, {.tag = 1});
                            }
                            Op &whole = world.receive(1, size, {.tag = 1});
                            world.wait(*receive);
                            CHECK_EQ(receive->error(), FI_ETRUNC);
                            CHECK_EQ(receive->done[0].len, room);
                            CHECK_EQ(receive->done[0].olen, size - room);
                            CHECK_EQ(receive->done[0].tag, 1u);
                            verify(receive->memory, size);
                            expect_message(world, whole, size, size + 1);
                            expect_ok(world, send);
                            expect_ok(world, next);
                          }
                      })};

// Each message in the buffer after the one before; the buffer is given back
// once, by the last of its completions.
const Case multi_receive{
    "semantics__multi_receive", 4, on_each_link([](World &world) {
      world.node(1).endpoint().set_min_multi_recv(2000);
      std::vector<Op *> buffers, sends;
      const auto post = [&] {
        buffers.push_back(&world.receive(1, 50'000, {.flags = FI_MULTI_RECV}));
      };
      post(), post();
      constexpr unsigned messages = 300;
      for (unsigned i = 0; i < messages; ++i) {
        sends.push_back(
            &world.send(0, 1, bytes_of(world.random().between(1, 1999), i), {.data = i}));
        if (buffers[buffers.size() - 2]->finished())
          post();
        world.run_for(world.random().up_to(20us));
      }
      const auto arrived = [&] {
        std::size_t n = 0;
        for (const Op *b : buffers)
          n += b->done.size() -
               (b->finished() && b->done.back().len == 0 && !(b->done.back().flags & FI_RECV));
        return n;
      };
      while (arrived() < messages) {
        world.run_for(1ms);
        if (buffers[buffers.size() - 2]->finished())
          post();
        CHECK(world.since_start() < 60s);
      }
      for (Op *send : sends)
        expect_ok(world, *send);
      std::uint64_t expected = 0;
      for (Op *b : buffers) {
        std::vector<Done> in_place; // completions come in the order in which messages are whole
        for (const Done &d : b->done) {
          CHECK_EQ(d.err, 0);
          CHECK_EQ((d.flags & FI_MULTI_RECV) != 0, b->finished() && &d == &b->done.back());
          if (d.flags & FI_RECV) // else: gives back the buffer only
            in_place.push_back(d);
        }
        std::ranges::sort(in_place, {}, &Done::buf);
        std::byte *end = b->memory.data();
        for (const Done &d : in_place) {
          CHECK_EQ(d.data, expected++);
          CHECK(d.buf >= end && d.buf + d.len <= b->memory.data() + b->memory.size());
          end = d.buf + d.len;
          verify(std::span(d.buf, d.len), d.data);
        }
      }
      CHECK_EQ(expected, messages);
    })};

const Case peek{
    "semantics__peek_claim_discard", 3, on_each_link([](World &world) {
      Op &none = world.receive(1, 0, {.tag = 5, .flags = FI_PEEK});
      world.wait(none, 1s);
      CHECK_EQ(none.error(), FI_ENOMSG);
      for (const std::size_t size : sizes) {
        std::vector<Op *> sends;
        for (unsigned i = 0; i < 4; ++i)
          sends.push_back(&world.send(0, 1, bytes_of(size, size + i), {.tag = 10 + i, .data = i}));
        world.run_for(20ms);

        for (int again = 0; again < 2; ++again) { // looking takes nothing away
          Op &look = world.receive(1, 0, {.tag = 10, .flags = FI_PEEK});
          world.wait(look);
          CHECK_EQ(look.error(), 0);
          CHECK_EQ(look.done[0].len, size);
          CHECK_EQ(look.done[0].tag, 10u);
          CHECK_EQ(look.done[0].data, 0u);
          CHECK_EQ(look.done[0].src, 0u);
        }
        expect_message(world, world.receive(1, size, {.tag = 10}), size, size);

        // Claimed: others don't get it, the claimant does.
        Op &claim = world.receive(1, size, {.tag = 11, .flags = FI_PEEK | FI_CLAIM});
        world.wait(claim);
        CHECK_EQ(claim.error(), 0);
        CHECK_EQ(claim.done[0].len, size);
        Op &other = world.receive(1, 0, {.tag = 11, .flags = FI_PEEK});
        world.wait(other);
        CHECK_EQ(other.error(), FI_ENOMSG);
        claim.done.clear();
        CHECK_EQ(world.post_receive(claim, {.tag = 11, .flags = FI_CLAIM}), 0);
        expect_message(world, claim, size, size + 1);

        Op &discard = world.receive(1, 0, {.tag = 12, .flags = FI_PEEK | FI_DISCARD});
        world.wait(discard);
        CHECK_EQ(discard.error(), 0);
        Op &gone = world.receive(1, 0, {.tag = 12, .flags = FI_PEEK});
        world.wait(gone);
        CHECK_EQ(gone.error(), FI_ENOMSG);

        Op &claim2 = world.receive(1, 0, {.tag = 13, .flags = FI_PEEK | FI_CLAIM});
        world.wait(claim2);
        CHECK_EQ(claim2.error(), 0);
        claim2.done.clear();
        CHECK_EQ(world.post_receive(claim2, {.tag = 13, .flags = FI_CLAIM | FI_DISCARD}), 0);
        world.wait(claim2);
        CHECK_EQ(claim2.error(), 0);
        for (Op *send : sends)
          expect_ok(world, *send);
      }
    })};

// Exactly one completion: the message's or FI_ECANCELED; and then the message
// is still there for the next receive.
const Case cancel{"semantics__cancel_races_arrival", 20, on_each_link([](World &world) {
                    unsigned cancelled = 0;
                    for (unsigned i = 0; i < 60; ++i) {
                      const std::size_t size = sizes[i % std::size(sizes)];
                      Op &receive = world.receive(1, size, {.tag = i});
                      Op &send = world.send(0, 1, bytes_of(size, i), {.tag = i});
                      world.run_for(world.random().up_to(world.random().chance(0.5) ? 60us : 1us));
                      const bool before = receive.finished();
                      const int rc = world.cancel(receive);
                      CHECK(rc == 0 || rc == -FI_ENOENT);
                      CHECK(!before || rc == -FI_ENOENT);
                      if (rc == 0)
                        world.wait(receive, 2s);
                      world.run_for(50us);
                      if (receive.error() == FI_ECANCELED) {
                        ++cancelled;
                        expect_message(world, world.receive(1, size, {.tag = i}), size, i);
                      } else {
                        expect_message(world, receive, size, i);
                      }
                      expect_ok(world, send);
                      CHECK_EQ(receive.done.size(), 1u);
                    }
                    CHECK(cancelled > 0);
                  })};

const Case completion_levels{
    "semantics__completion_levels", 2, [](std::uint64_t seed) {
      for (const std::size_t size : {std::size_t{64}, std::size_t{5'000}}) {
        World world(seed);
        world.add(2);
        expect_ok(world, world.send(0, 1, {}, {.flags = FI_INJECT})); // the session is up
        world.receive(1, 0);
        world.run_for(1ms);

        const Time start = world.now();
        if (size == 64) {
          Op &inject = world.send(0, 1, bytes_of(size, 0), {.tag = 0, .flags = FI_INJECT_COMPLETE});
          world.wait(inject);
          CHECK(world.now() - start < 10us); // no round trip
        }
        // The peer computes: its service thread acknowledges, nobody processes.
        world.compute_until(1, world.now() + 1s);
        const Time computing = world.now();
        Op &transmit =
            world.send(0, 1, bytes_of(size, 1), {.tag = 1, .flags = FI_TRANSMIT_COMPLETE});
        Op &delivery =
            world.send(0, 1, bytes_of(size, 2), {.tag = 2, .flags = FI_DELIVERY_COMPLETE});
        Op &match = world.send(0, 1, bytes_of(size, 3), {.tag = 3, .flags = FI_MATCH_COMPLETE});
        expect_ok(world, transmit);
        CHECK(world.now() - computing < 500ms);
        world.run_for(computing + 999ms - world.now());
        CHECK(!delivery.finished() && !match.finished());
        expect_ok(world, delivery); // buffered counts as delivered
        CHECK(world.now() - computing < 1100ms);
        world.run_for(1s);
        CHECK(!match.finished());
        world.receive(1, size, {.tag = 3});
        expect_ok(world, match);
      }
    }};

// No receive is posted at first: what is fenced may not overtake.
const Case fence{"semantics__fence", 3, on_each_link([](World &world) {
                   for (const std::size_t size : {std::size_t{100}, std::size_t{200'000}}) {
                     Op &before = world.send(0, 1, bytes_of(200'000, 1), {.tag = 1});
                     Op &fenced =
                         world.send(0, 1, bytes_of(size, 2), {.tag = 2, .flags = FI_FENCE});
                     Op &second = world.receive(1, size, {.tag = 2});
                     world.run_for(20ms);
                     CHECK(!before.finished() && !fenced.finished() && !second.finished());
                     bool in_order = false;
                     Op &first = world.receive(1, 200'000, {.tag = 1});
                     second.on_done = [&](Op &, const Done &) { in_order = before.finished(); };
                     expect_message(world, first, 200'000, 1);
                     expect_message(world, second, size, 2);
                     expect_ok(world, fenced);
                     CHECK(in_order);
                   }
                 })};

// What stands before a fence may take its time: a rendezvous that nobody receives, a peer that
// computes. It is not asked about all the while.
const Case patient_fence{"semantics__fence_asks_seldom", 3, on_each_link([](World &world) {
                           const auto packets_of_a_second = [&] {
                             world.run_for(20ms);
                             const std::uint64_t before = world.network().counters().sent;
                             world.run_for(1s);
                             return world.network().counters().sent - before;
                           };
                           for (const bool computes : {false, true}) {
                             if (computes)
                               world.compute_until(1, world.now() + 2s);
                             const std::size_t size = computes ? 100 : 200'000;
                             Op &before = world.send(0, 1, bytes_of(size, 1), {.tag = 1});
                             Op &fenced =
                                 world.send(0, 1, bytes_of(100, 2), {.tag = 2, .flags = FI_FENCE});
                             CHECK(packets_of_a_second() < 60);
                             CHECK(!fenced.finished());
                             expect_message(world, world.receive(1, size, {.tag = 1}), size, 1);
                             expect_message(world, world.receive(1, 100, {.tag = 2}), 100, 2);
                             expect_ok(world, before);
                             expect_ok(world, fenced);
                           }
                         })};

const Case injected{
    "semantics__inject_copies", 3, on_each_link([](World &world) {
      for (unsigned i = 0; i < 100; ++i) {
        const std::size_t size = world.random().below(world.setup.config.inject_size + 1);
        Op &receive = world.receive(1, size, {.tag = i});
        Op &send =
            world.send(0, 1, bytes_of(size, i), {.tag = i, .flags = FI_INJECT, .silent = true});
        std::ranges::fill(send.memory, std::byte{0xee});
        expect_message(world, receive, size, i);
        CHECK(send.done.empty());
      }
      CHECK_EQ(world.node(0).tx_count().errors, 0u);
      world.run_until([&] { return world.node(0).tx_count().ok == 100; }, 1s, "counter of sends");
      CHECK_EQ(world.node(1).rx_count().ok, 100u);
    })};

// Told to be sent, then closed at once: it arrives (libfabric#11181).
const Case closing{
    "semantics__close_waits_for_what_was_injected", 5, on_each_link([](World &world) {
      std::vector<Op *> receives;
      for (unsigned i = 0; i < 50; ++i)
        receives.push_back(&world.receive(1, 1000, {.tag = i}));
      Op *last = nullptr;
      for (unsigned i = 0; i < 50; ++i)
        if (i % 2 == 0) // told to be sent by its return, or by its completion
          world.send(0, 1, bytes_of(1000, i), {.tag = i, .flags = FI_INJECT, .silent = true});
        else
          last = &world.send(0, 1, bytes_of(1000, i), {.tag = i, .flags = FI_INJECT_COMPLETE});
      world.wait(*last);
      CHECK(world.close(0));
      for (unsigned i = 0; i < 50; ++i)
        expect_message(world, *receives[i], 1000, i);
    })};

// A peer that says goodbye: what still waits for it ends with an error.
const Case goodbye{"semantics__peer_closes", 3, on_each_link([](World &world) {
                     expect_ok(world, world.send(0, 1, {}, {.flags = FI_INJECT}));
                     world.receive(1, 0);
                     world.run_for(10ms);
                     Op &unmatched = world.send(0, 1, bytes_of(200'000, 1), {.tag = 1});
                     world.run_for(10ms);
                     CHECK(!unmatched.finished());
                     world.close(1);
                     world.wait(unmatched, 12s);
                     CHECK(unmatched.error() != 0);
                     world.restart(1);
                     Op &receive = world.receive(1, 100, {.tag = 2});
                     world.send(0, 1, bytes_of(100, 2), {.tag = 2});
                     expect_message(world, receive, 100, 2);
                   })};

const Case stranger{"semantics__sender_not_in_the_book_yet", 3, [](std::uint64_t seed) {
                      for (const bool source_err : {false, true}) {
                        Setup setup;
                        setup.source_err = source_err;
                        World world(seed, setup);
                        world.add(1);
                        const NodeId from = world.add_stranger();
                        Op &any = world.receive(0, 100, {.tag = 1});
                        for (std::uint64_t tag = 1; tag <= 3; ++tag)
                          world.send(from, 0, bytes_of(100, tag), {.tag = tag});
                        world.wait(any);
                        if (source_err) {
                          CHECK_EQ(any.error(), FI_EADDRNOTAVAIL);
                          CHECK(!any.done[0].err_data.empty());
                        } else {
                          CHECK_EQ(any.error(), 0);
                          CHECK_EQ(any.done[0].src, FI_ADDR_NOTAVAIL);
                        }
                        verify(any.memory, 1);
                        Op &directed = world.receive(0, 100, {.tag = 2, .src = from});
                        world.run_for(10ms);
                        CHECK(!directed.finished()); // nobody knows that it is from there
                        world.introduce(from);
                        Op &later = world.receive(0, 100, {.tag = 3, .src = from});
                        expect_message(world, later, 100, 3);
                        CHECK_EQ(later.done[0].src, from);
                        Op &again = world.receive(0, 100, {.tag = 4, .src = from});
                        world.send(from, 0, bytes_of(100, 4), {.tag = 4});
                        expect_message(world, again, 100, 4);
                      }
                    }};

const Case full{"semantics__queues_full", 2, on_each_link([](World &world) {
                  unsigned sends = 0, receives = 0;
                  const auto limit = static_cast<unsigned>(world.setup.config.tx_size);
                  std::vector<Op *> ops;
                  while (Op *op = world.try_send(0, 1, bytes_of(100'000, 1), {.tag = 1}))
                    ops.push_back(op), ++sends;
                  CHECK(sends >= limit / 2 && sends <= limit);
                  while (world.try_receive(1, 0, {.tag = 2}))
                    ++receives;
                  CHECK_EQ(receives, world.setup.config.rx_size);
                })};

const Case to_self{"semantics__to_oneself", 2, on_each_link([](World &world) {
                     for (const bool posted : {true, false})
                       for (const std::size_t size : sizes) {
                         Op *receive =
                             posted ? &world.receive(0, size, {.tag = 1, .src = 0}) : nullptr;
                         Op &send = world.send(0, 0, bytes_of(size, size), {.tag = 1});
                         if (!posted)
                           world.run_for(1ms),
                               receive = &world.receive(0, size, {.tag = 1, .src = 0});
                         expect_message(world, *receive, size, size);
                         expect_ok(world, send);
                       }
                   })};

const Case pieces{"semantics__scattered_memory", 2, on_each_link([](World &world) {
                    for (const std::size_t size : sizes)
                      for (const std::size_t n : {1, 2, 7, 16}) {
                        Op &receive = world.receive(1, size, {.pieces = 17 - n});
                        world.send(0, 1, bytes_of(size, n), {.pieces = n});
                        expect_message(world, receive, size, n);
                      }
                  })};

// A corrupted packet whose flag no longer says that it is checksummed must not
// be believed.
const Case unchecked{"semantics__a_flag_does_not_switch_checksums_off", 1, [](std::uint64_t seed) {
                       World world(seed);
                       world.add(2);
                       world.set_hook([&](const dpdkx::link::sim::Departure &d) {
                         if (d.bytes.size() > 200 && d.bytes[1] == std::byte{1} &&
                             world.random().chance(0.3)) {
                           d.bytes[2] &= ~std::byte{2}; // packet_flag::checksummed
                           d.bytes[150] ^= std::byte{0xff};
                         }
                         return dpdkx::link::sim::Verdict{};
                       });
                       for (unsigned i = 0; i < 50; ++i) {
                         Op &receive = world.receive(1, 20'000, {.tag = i});
                         world.send(0, 1, bytes_of(20'000, i), {.tag = i});
                         expect_message(world, receive, 20'000, i);
                       }
                     }};

} // namespace

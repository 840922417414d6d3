// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Frames to and from the other ranks, over messages of an endpoint. Buffers are allocated at the
// start.
#pragma once

#include "collc/runtime/fabric.h"
#include "collc/runtime/function/frame.h"

#include <chrono>
#include <memory>
#include <span>
#include <vector>

namespace collc::rt {

class channel {
public:
  class receiver {
  public:
    virtual void take(const frame_header &, const std::byte *payload) = 0;

  protected:
    ~receiver() = default;
  };

  channel(const channel &) = delete;
  channel(fabric &, std::int64_t ranks, std::int64_t rank, std::chrono::milliseconds silence,
          receiver &);
  ~channel(); // closes the endpoint, which has its buffers

  // False: there is no room now. Throws failure where the peer can't be reached. source, number and
  // length are filled in. under_way counts the frame until it has left; it must live so long.
  bool send(std::int64_t peer, frame_header, std::span<const std::byte> payload,
            std::uint64_t &under_way);
  // Hands on what has come.
  void progress();

private:
  static constexpr std::size_t sends = 64, receives = 64;

  struct frame {
    fi_context2 context; // first: it leads back here
    std::byte *data = nullptr;
    void *desc = nullptr;
    std::int64_t peer = -1; // of one that is sent; -1: it receives
    std::uint64_t *under_way = nullptr;
    frame *next = nullptr; // of those that have come too early
  };
  struct peer_state {
    std::uint32_t sent = 0, taken = 0;
    frame *early = nullptr;
    bool reached = false;
    std::chrono::steady_clock::time_point refused{}; // since when; none: not
  };

  void make_frames(std::size_t count, std::vector<frame *> &into);
  void post_receives();
  void received(frame &);
  void take(peer_state &, frame &);
  void take_error();
  void refused(peer_state &, std::int64_t peer);

  struct slab {
    std::unique_ptr<std::byte[]> bytes;
    owned<fid_mr> mr; // where the provider wants it
    std::vector<frame> frames;
  };

  fabric &fabric_;
  const std::int64_t rank_;
  const std::chrono::milliseconds silence_;
  receiver &receiver_;
  std::vector<std::unique_ptr<slab>> slabs_;
  std::vector<frame *> free_, to_post_;
  std::size_t posted_ = 0;
  std::vector<peer_state> peers_;
};

} // namespace collc::rt

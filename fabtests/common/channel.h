// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Framed messages over a stream socket: how ranks and launchers talk beside the fabric under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace fabtest {

using bytes = std::vector<std::byte>;

class unique_fd {
public:
  explicit unique_fd(int fd = -1) : fd_(fd) {}
  unique_fd(unique_fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  unique_fd &operator=(unique_fd &&other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~unique_fd();

  [[nodiscard]] int get() const { return fd_; }
  void reset() { unique_fd(std::exchange(fd_, -1)); }
  explicit operator bool() const { return fd_ >= 0; }

private:
  int fd_;
};

enum class frame_kind : std::uint32_t {
  hello,    // rank → hub: who I am (remote ranks only)
  gather,   // rank → hub: my part of an allgather
  gathered, // hub → rank: everybody's parts
  result,   // rank → hub: how the case ended
  start,    // hub → launcher: run a rank of a case
  exited,   // launcher → hub: how the process ended
};

struct frame {
  frame_kind kind{};
  int rank = 0;
  bytes body;
};

class channel {
public:
  channel() = default;
  explicit channel(unique_fd fd) : fd_(std::move(fd)) {}

  [[nodiscard]] int fd() const { return fd_.get(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }
  void close() { fd_.reset(); }

  // False where the other side is gone.
  bool send(frame_kind kind, int rank, std::span<const std::byte> body) const;
  // Blocks for a whole frame; nothing where the other side is gone.
  [[nodiscard]] std::optional<frame> receive() const;

private:
  unique_fd fd_;
};

std::pair<channel, channel> make_channel_pair();
channel connect_to(const std::string &host_and_port); // retries for some seconds
unique_fd listen_on(const std::string &host_and_port);

bytes pack(std::span<const bytes> parts);
std::vector<bytes> unpack(std::span<const std::byte> packed);
bytes to_bytes(const std::string &text);
std::string to_text(std::span<const std::byte> body);

} // namespace fabtest

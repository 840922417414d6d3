// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/host/pull.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace dpdkx::link::host {

namespace {

// A call takes at most IOV_MAX pieces and 2 GiB; more pieces gain nothing.
constexpr std::size_t pieces_per_call = 64;
constexpr std::size_t bytes_per_call = std::size_t{1} << 30;

// Walks along a list of pieces.
class Cursor {
public:
  explicit Cursor(std::span<const iovec> list) : list_(list) { skip_empty(); }

  bool done() const { return list_.empty(); }
  std::byte *data() const { return static_cast<std::byte *>(list_[0].iov_base) + offset_; }
  std::size_t contiguous() const { return list_[0].iov_len - offset_; }

  void advance(std::size_t bytes) {
    while (bytes != 0) {
      const std::size_t step = std::min(bytes, contiguous());
      offset_ += step;
      bytes -= step;
      skip_empty();
    }
  }

  // The pieces from here, up to the limits of a call. Returns their bytes.
  std::size_t window(iovec (&out)[pieces_per_call], std::size_t &pieces) const {
    Cursor at = *this;
    std::size_t total = 0;
    for (pieces = 0; pieces < pieces_per_call && !at.done() && total < bytes_per_call; ++pieces) {
      const std::size_t length = std::min(at.contiguous(), bytes_per_call - total);
      out[pieces] = {at.data(), length};
      total += length;
      at.advance(length);
    }
    return total;
  }

private:
  void skip_empty() {
    while (!list_.empty() && offset_ == list_[0].iov_len) {
      list_ = list_.subspan(1);
      offset_ = 0;
    }
  }

  std::span<const iovec> list_;
  std::size_t offset_ = 0;
};

int pull_error(int error) {
  switch (error) {
  case ENOSYS: // not in this kernel, or a seccomp filter says so
  case EACCES:
    return -EPERM;
  default:
    return -error;
  }
}

} // namespace

int pull_from(pid_t pid, std::span<const iovec> local, std::span<const iovec> remote) {
  Cursor to(local), from(remote);
  iovec to_window[pieces_per_call], from_window[pieces_per_call];
  while (!to.done()) {
    std::size_t to_pieces, from_pieces;
    to.window(to_window, to_pieces);
    from.window(from_window, from_pieces);
    const ssize_t moved = process_vm_readv(pid, to_window, to_pieces, from_window, from_pieces, 0);
    if (moved < 0)
      return pull_error(errno);
    if (moved == 0) // `remote` is too short
      return -EFAULT;
    to.advance(static_cast<std::size_t>(moved));
    from.advance(static_cast<std::size_t>(moved));
  }
  return 0;
}

int pull_here(std::span<const iovec> local, std::span<const iovec> remote) {
  Cursor to(local), from(remote);
  while (!to.done()) {
    if (from.done())
      return -EFAULT;
    const std::size_t step = std::min(to.contiguous(), from.contiguous());
    std::memmove(to.data(), from.data(), step);
    to.advance(step);
    from.advance(step);
  }
  return 0;
}

} // namespace dpdkx::link::host

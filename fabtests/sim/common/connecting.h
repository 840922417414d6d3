// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a node is told of connections: its own, and those that others ask it for.
#pragma once

#include "dpdkx/engine/endpoint.h"
#include "sim/common/check.h"

#include <cstddef>
#include <span>
#include <vector>

namespace sim {

// Of one connection, which comes up or doesn't, once, and ends once if it was there.
class ConnectionLog final : public dpdkx::engine::ConnectionSink {
public:
  bool up() const { return up_; }
  bool refused() const { return error_ != 0; }
  bool ended() const { return ended_; }
  bool open() const { return up_ && !ended_; }
  bool over() const { return ended_ || refused(); }
  int error() const { return error_; }
  const std::vector<std::byte> &data() const { return data_; }

private:
  void connected(std::span<const std::byte> data) override {
    if (up_ || over())
      fail_later("a connection comes up after it has come up, or been refused");
    up_ = true;
    data_.assign(data.begin(), data.end());
  }
  void refused(int error, std::span<const std::byte> data) override {
    if (up_ || over() || error <= 0)
      fail_later(fmt::format("a connection is refused with error {} after it has come up, or been "
                             "refused",
                             error));
    error_ = error;
    data_.assign(data.begin(), data.end());
  }
  void ended() override {
    if (!up_ || over())
      fail_later("a connection ends that is not there");
    ended_ = true;
  }

  bool up_ = false, ended_ = false;
  int error_ = 0;
  std::vector<std::byte> data_; // what the other side has said with it
};

// Requests that have come to a listener.
class RequestLog final : public dpdkx::engine::ListenerSink {
public:
  struct Asked {
    Request request;
    std::vector<std::byte> data;
  };
  std::vector<Asked> waiting; // for an answer, the oldest first
  std::size_t count = 0;      // that have ever come

private:
  bool requested(const Request &request, std::span<const std::byte> data) override {
    ++count;
    waiting.push_back({request, {data.begin(), data.end()}});
    return true;
  }
};

} // namespace sim

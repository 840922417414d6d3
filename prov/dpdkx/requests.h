// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Requests for connections that the application has been told of. What it holds
// of each is the handle in an fi_info: a pointer that is looked up here before
// anybody follows it.
#pragma once

#include "dpdkx/engine/endpoint.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <rdma/fabric.h>
#include <vector>

namespace dpdkx {

class Listener;

struct ConnectionRequest : fid {
  ConnectionRequest(Listener &listener, const engine::ListenerSink::Request &call)
      : fid{FI_CLASS_CONNREQ, nullptr, nullptr}, listener(listener), call(call) {}

  Listener &listener;
  const engine::ListenerSink::Request call;
};

class Requests {
public:
  struct fid *add(std::unique_ptr<ConnectionRequest> request) {
    const std::lock_guard lock(mutex_);
    list_.push_back(std::move(request));
    return list_.back().get();
  }

  // Whoever takes it answers it. Null: there is no such request, or no more.
  std::unique_ptr<ConnectionRequest> take(const struct fid *handle, const Listener *of = nullptr) {
    return take_if(
        [=](const ConnectionRequest &r) { return &r == handle && (!of || &r.listener == of); });
  }
  std::unique_ptr<ConnectionRequest> take_any(const Listener &of) {
    return take_if([&of](const ConnectionRequest &r) { return &r.listener == &of; });
  }

private:
  template <class F> std::unique_ptr<ConnectionRequest> take_if(F &&f) {
    const std::lock_guard lock(mutex_);
    const auto at =
        std::find_if(list_.begin(), list_.end(),
                     [&f](const std::unique_ptr<ConnectionRequest> &r) { return f(*r); });
    if (at == list_.end())
      return nullptr;
    std::unique_ptr<ConnectionRequest> request = std::move(*at);
    list_.erase(at);
    return request;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<ConnectionRequest>> list_;
};

} // namespace dpdkx

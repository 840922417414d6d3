// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The connection of an endpoint that has one (FI_EP_MSG), as its application sees
// it: from whose request or to which listener, and the events that tell of it.
#pragma once

#include "dpdkx/listener.h"
#include "util_ext/eq.h"

#include <memory>
#include <optional>

namespace dpdkx {

class EpConnection final : public engine::ConnectionSink {
public:
  // What an endpoint's fi_info says of it, and where its address comes from.
  struct Origin {
    std::unique_ptr<EpConnection> connection;
    Listener::Place place; // taken over from a passive endpoint
    bool placed = false;   // ... with its links; else place.self is but asked for
    bool any_place = true; // the endpoint's own source counts
  };
  // 0, or a negative FI_E*, which has been told.
  static int open(Fabric &, const fi_info &, Origin &);
  ~EpConnection(); // after the engine

  // Before the engine is told. From then on events are about that fid.
  void report_to(util_ext::Eq &, const struct fid &);
  // The fid is being closed: no events any more. Under the engine's lock.
  void forget(const struct fid *);
  const struct fid *subject() const { return subject_; }

  ConnectionRequest *request() const {
    return request_.get();
  }                                     // null: it connects, and isn't asked
  void accepted() { accepted_ = true; } // before the engine is told
  // The names that it and its peer go by. A listener's endpoints have the listener's name.
  const std::optional<Address> &own_name() const { return own_name_; }
  std::optional<Address> peer;       // to be connected to, or connected
  bool is_up() const { return up_; } // under the engine's lock

private:
  EpConnection() = default;
  // The listener may go, if this was the last that needs it.
  void settle();

  void connected(std::span<const std::byte>) override;
  void refused(int error, std::span<const std::byte>) override;
  void ended() override;

  std::unique_ptr<ConnectionRequest> request_;
  bool accepted_ = false, settled_ = false, up_ = false;
  std::optional<Address> own_name_;
  util_ext::Eq *eq_ = nullptr; // the endpoint holds it
  const struct fid *subject_ = nullptr;
  void *context_ = nullptr; // its
};

} // namespace dpdkx

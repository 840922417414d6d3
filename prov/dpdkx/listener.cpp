// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/listener.h"

#include "dpdkx/passive_endpoint.h"
#include "util_ext/ops.h"

namespace dpdkx {

int Listener::open(Fabric &fabric, PassiveEndpoint &owner, const engine::Config &config,
                   std::size_t backlog, Place &&place, std::unique_ptr<Listener> &out) {
  std::unique_ptr<Listener> listener(new Listener(fabric, owner));
  const engine::AddressBook &book = *listener;
  listener->device_ = std::move(place.device);
  listener->engine_ =
      std::make_unique<engine::Endpoint>(config, SystemClock::instance(), place.self,
                                         std::move(place.links), book, listener->completers_);
  if (const int rc = listener->engine_->set_listener(*listener, backlog))
    return rc;
  if (const int rc = fabric.start(*listener->engine_))
    return rc;
  listener->started_ = true;
  out = std::move(listener);
  return 0;
}

Listener::~Listener() {
  if (started_)
    fabric_.stop(*engine_);
}

void Listener::close() {
  {
    const std::lock_guard lock(engine_->mutex());
    owner_ = nullptr;
  }
  bool refused = false;
  while (const auto request = fabric_.requests.take_any(*this)) {
    reject(*request, {});
    refused = true;
  }
  if (refused)
    linger();
}

void Listener::linger() {
  const auto drained = [this] {
    const std::lock_guard lock(engine_->mutex());
    return engine_->drained();
  };
  const Clock &clock = SystemClock::instance();
  const Time until = clock.now() + fabric_.settings().engine.linger;
  while (!drained() && clock.now() < until)
    fabric_.progress();
}

void Listener::reject(const ConnectionRequest &request, std::span<const std::byte> data) {
  const std::lock_guard lock(engine_->mutex());
  engine_->reject(request.call.number, data);
}

void Listener::accepted(const ConnectionRequest &request) {
  const std::lock_guard lock(engine_->mutex());
  engine_->forget(request.call.number);
}

bool Listener::requested(const engine::ListenerSink::Request &call,
                         std::span<const std::byte> data) {
  if (!owner_)
    return false;
  const int rc = util_ext::guard([&] {
    util_ext::InfoPtr info = owner_->info_for(call.caller);
    info->handle = fabric_.requests.add(std::make_unique<ConnectionRequest>(*this, call));
    struct fid *const handle = info->handle;
    const int written = owner_->tell(std::move(info), data);
    if (written)
      fabric_.requests.take(handle);
    return written;
  });
  return rc == 0;
}

} // namespace dpdkx

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/check_port.h"

#include <iterator>

namespace dpdkx::daemon {

bool CheckPort::turn(Time now) {
  const unsigned n = port_->poll(burst_, std::size(burst_));
  for (unsigned i = 0; i < n; ++i)
    take(burst_[i], now);
  if (n != 0) {
    port_->release(burst_, n);
    port_->flush();
  }
  link::PathEvent event; // it opens no path; but a device's timers run by this
  (void)port_->poll_events(&event, 1, now);
  return n != 0;
}

void CheckPort::take(const link::RxDatagram &datagram, Time now) {
  std::span<const std::byte> in(datagram.data, datagram.len);
  const auto header = wire::decode_header(in);
  if (!header || header->type != wire::PacketType::probe ||
      !(header->flags & wire::packet_flag::checksummed) ||
      !wire::verify({datagram.data, datagram.len}))
    return;
  const auto probe = responder_.take(*port_, datagram, in, now);
  questions_ += probe && probe->kind == wire::ProbeKind::question;
}

} // namespace dpdkx::daemon

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fi_passive_ep(3): an address at which others ask for connections.
#pragma once

#include "dpdkx/listener.h"
#include "util_ext/eq.h"

#include <memory>
#include <sys/types.h>

namespace dpdkx {

class PassiveEndpoint final {
public:
  static int open(Fabric &, const fi_info *, fid_pep **, void *context);
  ~PassiveEndpoint();
  static PassiveEndpoint &from(fid_pep *f) { return static_cast<Handle *>(f)->endpoint; }
  static PassiveEndpoint &from(struct fid *f) { return from(reinterpret_cast<fid_pep *>(f)); }

  int bind(struct fid *, std::uint64_t flags);
  int close();
  int set_name(const void *, std::size_t len);
  int get_name(void *, std::size_t *len);
  int set_backlog(int);
  int listen();
  int reject(const struct fid *handle, const void *data, std::size_t len);

  // An active endpoint takes its address over (fi_info::handle): what has been settled of it.
  // -FI_EOPBADSTATE: it listens.
  int give_place(Listener::Place &, bool &placed);
  const struct fid *handle() const { return &handle_.fid; }

  // For a caller's request: how to answer it, without a handle. Throws std::bad_alloc.
  util_ext::InfoPtr info_for(const Address &caller) const;
  int tell(util_ext::InfoPtr, std::span<const std::byte> data);

private:
  struct Handle : fid_pep { // what the application holds
    PassiveEndpoint &endpoint;
  };

  PassiveEndpoint(Fabric &, util_ext::InfoPtr, const Address &source, void *context);
  int open_place(); // unless it is open
  bool inherited() const;

  Handle handle_;
  const util_ext::Hold<Fabric> fabric_;
  const util_ext::InfoPtr info_;
  const pid_t owner_;
  util_ext::Hold<util_ext::Eq> eq_;
  Address source_; // asked for
  std::size_t backlog_;
  bool placed_ = false;
  Listener::Place place_; // from then on; its links until it listens
  std::unique_ptr<Listener> listener_;
};

// What may be said with a request for a connection, and with the answer, bytes.
inline constexpr std::size_t max_cm_data = wire::max_connection_data;
// 0, or -FI_EINVAL, which has been told.
int check_cm_data(const void *data, std::size_t len);
inline std::span<const std::byte> cm_data(const void *data, std::size_t len) {
  return {static_cast<const std::byte *>(data), len};
}

} // namespace dpdkx

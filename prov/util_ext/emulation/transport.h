// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How adds to counters travel over any provider: as messages of one size, each
// answered by another. And the completions of all that an endpoint does, which
// are read here.
#pragma once

#include "util_ext/domain.h"

#include <rdma/fi_dpdkx_emulation.h>
#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace util_ext::emulation {

// What is under way at the provider. The context of its operation is the slot, whatever the
// provider keeps in it.
class UnderWay {
public:
  UnderWay() { slot_.self = this; }
  UnderWay(const UnderWay &) = delete;
  virtual ~UnderWay() = default;

  // It is over, with a positive FI_E*, or 0. The object may be gone afterwards.
  virtual void over(int error) = 0;
  void *context() { return &slot_; }
  static UnderWay &of(void *context) { return *static_cast<Slot *>(context)->self; }

private:
  struct Slot {
    fi_context2 context{};
    UnderWay *self = nullptr;
  };
  Slot slot_;
};

// Who is told that an add has been applied, or why not.
class Adder {
public:
  virtual void applied(int error) = 0;

protected:
  ~Adder() = default;
};

class Transport {
public:
  Transport(const fi_dpdkx_emulation_attr &, const fi_provider &, CntrTable &exported);
  ~Transport();
  Transport(const Transport &) = delete;

  int start(); // posts receives

  // Sends an add, once all operations on the peer's memory that have begun are over.
  // `adder`, if there is one, is told once.
  int add(fi_addr_t to, std::uint64_t key, std::uint64_t value, Adder *adder);
  // Of operations on a peer's memory.
  void begin_access(fi_addr_t);
  void end_access(fi_addr_t);

  // Sends what waits, reads completions. Any thread; one at a time does it.
  void progress();

  fid_ep *ep() const { return attr_.ep; }

private:
  struct Message;
  class Buffer;
  class Receive;
  class Sending;
  struct Peer {
    std::size_t accesses = 0;
    std::deque<std::unique_ptr<Sending>> held; // adds, until there are none
  };

  std::unique_ptr<Sending> new_message();
  void send(std::unique_ptr<Sending>);
  std::unique_ptr<Sending> take(Sending &); // one that is over
  void send_waiting();
  void read_completions();
  void arrived(const Message &);
  void answer(const Message &, int status);
  fi_addr_t address_of(const std::string &name);

  const fi_dpdkx_emulation_attr attr_;
  const fi_provider &provider_;
  CntrTable &exported_;
  std::string name_; // the endpoint's
  const bool registers_;

  std::mutex progress_;
  std::vector<std::unique_ptr<Receive>> receives_;

  std::mutex mutex_; // of what follows
  std::unordered_map<fi_addr_t, Peer> peers_;
  std::deque<std::unique_ptr<Sending>> waiting_; // the provider had no room
  std::unordered_map<const Sending *, std::unique_ptr<Sending>> under_way_;
  std::unordered_map<std::uint64_t, Adder *> adders_;
  std::uint64_t next_id_ = 0;
  std::unordered_map<std::string, fi_addr_t> names_;
};

} // namespace util_ext::emulation

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/emulation/transport.h"

#include <cstring>
#include <system_error>

namespace util_ext::emulation {

namespace {

constexpr std::size_t longest_name = 64;
constexpr std::size_t usual_receives = 256;
constexpr char mark[8] = {'d', 'p', 'd', 'k', 'x', 'e', 'm', '1'};
enum : std::uint32_t { add_kind = 1, answer_kind = 2 };

} // namespace

// Between processes that may differ in byte order only if the provider's peers may: it has no
// conversion.
struct Transport::Message {
  char marked[8];
  std::uint32_t kind;
  std::int32_t status; // of an answer: a positive FI_E*, or 0
  std::uint64_t id;    // of an add, and of its answer
  std::uint64_t key, value;
  std::uint32_t name_size; // of who adds: where the answer goes
  std::uint32_t reserved;
  std::byte name[longest_name];
};

// A message's memory, registered where the provider wants that.
class Transport::Buffer : public UnderWay {
public:
  explicit Buffer(Transport &owner) : owner_(owner) {}
  ~Buffer() {
    if (mr_)
      fi_close(&mr_->fid);
  }
  int start(std::uint64_t access) {
    return owner_.registers_ ? fi_mr_reg(owner_.attr_.domain, &message, sizeof message, access, 0,
                                         0, 0, &mr_, nullptr)
                             : 0;
  }
  void *desc() const { return mr_ ? fi_mr_desc(mr_) : nullptr; }

  Message message{};

protected:
  Transport &owner_;

private:
  fid_mr *mr_ = nullptr;
};

class Transport::Receive final : public Buffer {
public:
  using Buffer::Buffer;
  int post() {
    ssize_t rc;
    while ((rc = fi_recv(owner_.attr_.ep, &message, sizeof message, desc(), FI_ADDR_UNSPEC,
                         context())) == -FI_EAGAIN)
      fi_cq_read(owner_.attr_.cq, nullptr, 0);
    return static_cast<int>(rc);
  }
  void over(int error) override {
    if (error == FI_ECANCELED)
      return; // the endpoint goes
    if (error == 0)
      owner_.arrived(message);
    else
      FI_WARN(&owner_.provider_, FI_LOG_EP_DATA, "emulation: a receive fails: %s\n",
              fi_strerror(error));
    if (const int rc = post())
      FI_WARN(&owner_.provider_, FI_LOG_EP_DATA, "emulation: fi_recv: %s\n", fi_strerror(-rc));
  }
};

class Transport::Sending final : public Buffer {
public:
  using Buffer::Buffer;
  int post() {
    return static_cast<int>(
        fi_send(owner_.attr_.ep, &message, sizeof message, desc(), to, context()));
  }
  void over(int error) override {
    const std::unique_ptr<Sending> gone = owner_.take(*this);
    if (error)
      failed(error);
  }
  // It has not left, or may not have arrived: nobody will answer.
  void failed(int error) {
    if (message.kind == answer_kind) {
      FI_WARN(&owner_.provider_, FI_LOG_EP_DATA, "emulation: an answer fails: %s\n",
              fi_strerror(error));
      return;
    }
    Message answer{};
    std::memcpy(answer.marked, mark, sizeof mark);
    answer.kind = answer_kind;
    answer.id = message.id;
    answer.status = error;
    owner_.arrived(answer);
  }

  fi_addr_t to = FI_ADDR_UNSPEC;
};

Transport::Transport(const fi_dpdkx_emulation_attr &attr, const fi_provider &provider,
                     CntrTable &exported)
    : attr_(attr), provider_(provider), exported_(exported),
      registers_((attr.info->domain_attr->mr_mode & FI_MR_LOCAL) != 0) {}

Transport::~Transport() = default;

int Transport::start() {
  char name[longest_name];
  std::size_t size = sizeof name;
  if (const int rc = fi_getname(&attr_.ep->fid, name, &size)) {
    FI_WARN(&provider_, FI_LOG_EP_CTRL, "emulation: the endpoint's name: %s; allowed: %zu bytes\n",
            fi_strerror(-rc), longest_name);
    return rc;
  }
  name_.assign(name, size);
  const std::size_t n = attr_.receives ? attr_.receives : usual_receives;
  for (std::size_t i = 0; i < n; ++i) {
    receives_.push_back(std::make_unique<Receive>(*this));
    int rc = receives_.back()->start(FI_RECV);
    if (rc == 0)
      rc = receives_.back()->post();
    if (rc != 0) {
      FI_WARN(&provider_, FI_LOG_EP_CTRL, "emulation: receive %zu of %zu: %s\n", i + 1, n,
              fi_strerror(-rc));
      return rc;
    }
  }
  return 0;
}

std::unique_ptr<Transport::Sending> Transport::new_message() {
  auto sending = std::make_unique<Sending>(*this);
  if (const int rc = sending->start(FI_SEND))
    throw std::system_error(-rc, std::generic_category());
  std::memcpy(sending->message.marked, mark, sizeof mark);
  return sending;
}

// Messages to a peer stay in order: what comes after one that waits waits as well.
void Transport::send(std::unique_ptr<Sending> sending) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) {
    const int rc = sending->post();
    if (rc == 0) {
      under_way_.emplace(sending.get(), std::move(sending));
      return;
    }
    if (rc != -FI_EAGAIN)
      throw std::system_error(-rc, std::generic_category());
  }
  waiting_.push_back(std::move(sending));
}

std::unique_ptr<Transport::Sending> Transport::take(Sending &sending) {
  const std::lock_guard lock(mutex_);
  const auto found = under_way_.find(&sending);
  auto taken = std::move(found->second);
  under_way_.erase(found);
  return taken;
}

int Transport::add(fi_addr_t to, std::uint64_t key, std::uint64_t value, Adder *adder) {
  auto sending = new_message();
  Message &m = sending->message;
  sending->to = to;
  m.kind = add_kind;
  m.key = key;
  m.value = value;
  m.name_size = static_cast<std::uint32_t>(name_.size());
  std::memcpy(m.name, name_.data(), name_.size());
  {
    const std::lock_guard lock(mutex_);
    m.id = ++next_id_;
    if (adder)
      adders_.emplace(m.id, adder);
    if (const auto peer = peers_.find(to); peer != peers_.end() && peer->second.accesses != 0) {
      peer->second.held.push_back(std::move(sending));
      return 0;
    }
  }
  const std::uint64_t id = m.id;
  try {
    send(std::move(sending));
  } catch (...) {
    const std::lock_guard lock(mutex_);
    adders_.erase(id);
    throw;
  }
  return 0;
}

void Transport::begin_access(fi_addr_t to) {
  const std::lock_guard lock(mutex_);
  ++peers_[to].accesses;
}

void Transport::end_access(fi_addr_t to) {
  std::deque<std::unique_ptr<Sending>> free;
  {
    const std::lock_guard lock(mutex_);
    const auto peer = peers_.find(to);
    if (--peer->second.accesses != 0)
      return;
    free = std::move(peer->second.held);
    peers_.erase(peer);
  }
  for (auto &sending : free)
    send(std::move(sending));
}

void Transport::progress() {
  const std::unique_lock lock(progress_, std::try_to_lock);
  if (!lock)
    return;
  send_waiting();
  read_completions();
}

void Transport::send_waiting() {
  std::unique_ptr<Sending> failed;
  int rc = 0;
  {
    const std::lock_guard lock(mutex_);
    while (!waiting_.empty() && (rc = waiting_.front()->post()) == 0) {
      Sending *const sent = waiting_.front().get();
      under_way_.emplace(sent, std::move(waiting_.front()));
      waiting_.pop_front();
    }
    if (rc == 0 || rc == -FI_EAGAIN)
      return;
    failed = std::move(waiting_.front());
    waiting_.pop_front();
  }
  failed->failed(-rc);
}

// The context comes first in an entry of any format.
void Transport::read_completions() {
  constexpr int most = 64;
  for (int i = 0; i < most; ++i) {
    fi_cq_tagged_entry entry{};
    const ssize_t rc = fi_cq_read(attr_.cq, &entry, 1);
    if (rc == 1) {
      UnderWay::of(entry.op_context).over(0);
      continue;
    }
    if (rc != -FI_EAVAIL)
      return;
    fi_cq_err_entry error{};
    if (fi_cq_readerr(attr_.cq, &error, 0) != 1)
      return;
    if (error.op_context)
      UnderWay::of(error.op_context).over(error.err ? error.err : FI_EOTHER);
  }
}

void Transport::arrived(const Message &m) {
  if (std::memcmp(m.marked, mark, sizeof mark) != 0 || m.name_size > longest_name ||
      (m.kind != add_kind && m.kind != answer_kind)) {
    FI_WARN(&provider_, FI_LOG_EP_DATA,
            "emulation: a message that is none of its own; nobody else may send untagged ones\n");
    return;
  }
  if (m.kind == add_kind)
    return answer(m, -exported_.add(m.key, m.value));
  Adder *adder = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = adders_.find(m.id); found != adders_.end()) {
      adder = found->second;
      adders_.erase(found);
    }
  }
  if (adder)
    adder->applied(m.status);
  else if (m.status)
    FI_WARN(&provider_, FI_LOG_EP_DATA, "emulation: an add to a peer's counter fails: %s\n",
            fi_strerror(m.status));
}

void Transport::answer(const Message &m, int status) {
  try {
    auto sending = new_message();
    sending->to = address_of({reinterpret_cast<const char *>(m.name), m.name_size});
    sending->message.kind = answer_kind;
    sending->message.id = m.id;
    sending->message.status = status;
    send(std::move(sending));
  } catch (const std::exception &e) {
    FI_WARN(&provider_, FI_LOG_EP_DATA, "emulation: no answer to a peer: %s\n", e.what());
  }
}

// In the application's address vector, a second time if it is there already.
fi_addr_t Transport::address_of(const std::string &name) {
  const std::lock_guard lock(mutex_);
  const auto [found, fresh] = names_.try_emplace(name, FI_ADDR_NOTAVAIL);
  if (fresh && fi_av_insert(attr_.av, name.data(), 1, &found->second, 0, nullptr) != 1) {
    names_.erase(found);
    throw std::system_error(FI_EADDRNOTAVAIL, std::generic_category());
  }
  return found->second;
}

} // namespace util_ext::emulation

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What dpdkxd reads of ranks: messages at its socket with descriptors, and the rings and control
// words of memory that it shares with them. Ranks say and write what the input has; meanwhile two
// others talk to each other, who behave well. Whatever comes, nothing may crash, leak or hang, a
// device is used as it may be, and what these two say to each other arrives.
//
// The input is a series of commands, see Fuzz::step().
#include "dpdkx/base/log.h"
#include "dpdkx/daemon/daemon.h"
#include "dpdkx/daemon/status_json.h"
#include "dpdkx/link/host/unix_socket.h"
#include "dpdkx/wire/probe.h"
#include "fuzz/input.h"
#include "fuzz/packets.h"
#include "fuzz/scribble.h"
#include "harness/hub.h"
#include "harness/passing.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace dpdkx;
using namespace fuzz;
using namespace std::chrono_literals;
using harness::Hub;
using link::daemon::Ask;
using link::daemon::RecordHeader;
using link::daemon::RecordKind;
using link::daemon::Reply;
using link::daemon::Request;
using link::daemon::WireEvent;
using link::daemon::WireOrigin;
using link::host::End;
using link::host::Fd;

constexpr std::uint32_t ring_bytes = 64 * 1024, fellows_ring_bytes = 256 * 1024;
constexpr std::uint32_t max_record = link::daemon::max_record_overhead + net::max_mtu;

Fd make_fd(int fd) {
  const link::host::ForkHold hold;
  return {fd, hold};
}

int lowest_free_descriptor() {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(fd);
  return fd;
}

// A rank's end: it writes what it likes.
struct Rank {
  Request request = link::daemon::make_request(Ask::attach);
  Fd socket, memory; // before it is attached
  link::daemon::Channel channel;
  bool attached = false;

  Rank() = default;
  Rank(std::uint16_t port, std::uint32_t ring, std::uint64_t start) {
    link::daemon::put_text(request.device, "net0");
    request.port = port;
    request.ring_bytes = ring;
    request.start = start;
    link::host::Segment segment;
    must(link::host::Segment::create(ring, segment, memory) == 0);
    for (const End end : {End::opener, End::acceptor})
      segment.consumer_words(end).head = start;
    channel.attach(std::move(segment), End::opener, start, max_record);
  }

  const Fd &its_socket() const { return attached ? channel.socket : socket; }
  void be_attached() {
    attached = true;
    channel.socket = std::move(socket);
    memory.reset();
  }
  bool write(const RecordHeader &header, std::span<const std::byte> body) {
    const auto len = static_cast<std::uint32_t>(sizeof(header) + body.size());
    std::byte *const at = channel.tx.reserve(len);
    if (at == nullptr)
      return false;
    std::ranges::copy(body, link::daemon::put(at, header));
    channel.tx.commit(len);
    channel.wake_peer();
    return true;
  }
  template <class T> bool write(RecordKind kind, std::uint32_t path, const T &body) {
    return write({static_cast<std::uint8_t>(kind), 0, 0, path}, std::as_bytes(std::span(&body, 1)));
  }
};

class Fuzz {
public:
  explicit Fuzz(std::span<const std::uint8_t> bytes) : in_(bytes), how_(in_.byte()) {
    daemon::Config config;
    config.socket = name_;
    config.devices.resize(1);
    config.max_ranks = 5;
    config.max_ring = 256 * 1024;
    config.sleep_after = Duration::zero();
    std::string error;
    must(daemon::Daemon::create(config,
                                {.open_device =
                                     [this](const daemon::DeviceConfig &,
                                            std::shared_ptr<link::Device> &out, std::string &) {
                                       out = hub_;
                                       return 0;
                                     },
                                 .describe = daemon::status_to_json,
                                 .version = "1"},
                                daemon_, error) == 0);
    for (std::uint16_t i = 0; i < fellows_.size(); ++i)
      attach_fellow(i);
    for (std::uint16_t i = 0; i < fellows_.size(); ++i)
      open_up(i);
  }

  void run() {
    for (unsigned steps = 1; steps <= 300 && !in_.empty(); ++steps) {
      step();
      if (steps % 64 == 0)
        fellows_talk();
    }
    fellows_talk();
    if (how_ & 1) { // to where it would sleep
      hub_->on_arm = [this] { daemon_->stop(); };
      daemon_->run();
    }
  }

private:
  static constexpr std::uint16_t first_fellow = 2000, first_rank = 3000;
  static constexpr std::uint64_t ranks_token = 1, peers_token = 2; // of all sessions

  // --- those that behave well ---

  void attach_fellow(std::uint16_t i) {
    Rank &rank = fellows_[i];
    rank = Rank(first_fellow + i, fellows_ring_bytes, 0);
    must(link::daemon::connect_to_daemon(name_, rank.socket) == 0);
    must(link::host::send_with_memory(rank.socket, std::as_bytes(std::span(&rank.request, 1)),
                                      rank.memory) == 0);
    look();
    Reply reply;
    const ssize_t got = recv(rank.socket.get(), &reply, sizeof(reply), MSG_DONTWAIT);
    must(got > 0 && link::daemon::is_reply(reply, static_cast<std::size_t>(got)) &&
         reply.status == 0);
    rank.be_attached();
  }

  Address fellow(std::uint16_t i) const {
    return hub_->info().address.address.with_port(first_fellow + i);
  }

  void open_up(std::uint16_t i) {
    must(fellows_[i].write(RecordKind::open, 0, link::daemon::wire_origin({fellow(1 - i), {}})));
    turn();
    bool up = false;
    read(fellows_[i], [&](const RecordHeader &header, std::span<const std::byte>) {
      up |= static_cast<RecordKind>(header.kind) == RecordKind::event;
    });
    must(up);
  }

  // What a rank's ring holds, which the daemon has written: whole records.
  template <class Take> static void read(Rank &rank, Take &&take) {
    const std::byte *data;
    std::uint32_t len;
    link::host::RingConsumer::Next next;
    while ((next = rank.channel.rx.next(data, len)) == link::host::RingConsumer::Next::datagram) {
      RecordHeader header;
      must(link::daemon::take(data, len, header));
      take(header, std::span(data, len));
    }
    must(next == link::host::RingConsumer::Next::none);
    rank.channel.rx.release();
  }

  // Until there is nothing to do any more: whoever floods them has been forwarded.
  void settle() {
    for (unsigned i = 0; i < 1000; ++i) {
      const bool busy = turn();
      for (Rank &rank : fellows_)
        read(rank, [](const RecordHeader &, std::span<const std::byte>) {});
      if (!busy)
        return;
    }
    std::abort();
  }

  void fellows_talk() {
    settle();
    for (std::uint16_t i = 0; i < fellows_.size(); ++i) {
      const std::string text = "said by one of us: " + std::to_string(++said_);
      must(fellows_[i].write({static_cast<std::uint8_t>(RecordKind::data), 0, 0, 0},
                             std::as_bytes(std::span(text))));
      unsigned heard = 0;
      for (unsigned turns = 0; turns < 4; ++turns) {
        turn();
        read(fellows_[1 - i], [&](const RecordHeader &header, std::span<const std::byte> body) {
          heard += static_cast<RecordKind>(header.kind) == RecordKind::data && header.path == 0 &&
                   std::ranges::equal(body, std::as_bytes(std::span(text)));
        });
      }
      must(heard == 1);
    }
    for (const daemon::DeviceStatus &device : daemon_->status().devices)
      for (const daemon::RankStatus &rank : device.ranks)
        must((rank.address != fellow(0) && rank.address != fellow(1)) || rank.malformed == 0);
  }

  // --- the others ---

  bool turn(Duration later = 1us) {
    now_ += later;
    return daemon_->turn(now_);
  }
  void look() { // it looks at its sockets, too
    turn(2ms);
    turn(2ms);
  }

  Rank &rank() { return ranks_[number_ = in_.byte() % ranks_.size()]; }
  std::uint16_t port_of_rank() const { return static_cast<std::uint16_t>(first_rank + number_); }

  void step() {
    switch (in_.byte() % 16) {
    case 0:
      turn(Duration(std::int64_t{1} << in_.byte() % 36));
      break;
    case 1:
      look();
      break;
    case 2:
      rank() = {};
      break;
    case 3:
      ask();
      break;
    case 4:
      say();
      break;
    case 5:
      attach();
      break;
    case 6:
      open_path();
      break;
    case 7:
      write_record();
      break;
    case 8:
      write_packets();
      break;
    case 9:
      scribble();
      break;
    case 10:
      read_something();
      break;
    case 11:
      come_from_outside();
      break;
    case 12:
      change_mood();
      break;
    case 13:
      tell_of_paths();
      break;
    case 14:
      note_session();
      break;
    default:
      write_word();
    }
  }

  void connect(Rank &rank) {
    if (!rank.its_socket())
      must(link::daemon::connect_to_daemon(name_, rank.socket) == 0);
  }

  // With a good rank's memory or something else.
  void attach() {
    Rank &rank = this->rank();
    if (rank.attached)
      return;
    const std::uint8_t kind = in_.byte();
    rank = Rank(port_of_rank(), ring_bytes, std::uint64_t{in_.byte()} * 64 - 64 * (kind & 64));
    connect(rank);
    if (kind & 128)
      spoil(in_, rank.request);
    send(rank, std::as_bytes(std::span(&rank.request, 1)), kind % 8 == 0 ? 0 : kind);
    look();
    hear(rank);
  }

  void ask() {
    Rank &rank = this->rank();
    connect(rank);
    Request request = link::daemon::make_request(static_cast<Ask>(in_.byte() % 5));
    spoil(in_, request);
    send(rank, std::as_bytes(std::span(&request, 1)), in_.byte());
    look();
    hear(rank);
  }

  void say() {
    Rank &rank = this->rank();
    connect(rank);
    const std::uint8_t kind = in_.byte();
    if (kind & 128) // it may also say nothing
      send(rank, in_.bytes(in_.byte()), kind);
  }

  // As a rule its memory, and once in a while something else.
  void send(Rank &rank, std::span<const std::byte> bytes, std::uint8_t kind) {
    std::vector<Fd> passed;
    const Fd *const memory = &rank.memory;
    std::vector<int> fds;
    switch (kind % 16) {
    case 1:
      break;
    case 2:
      passed.push_back(make_fd(eventfd(0, EFD_CLOEXEC)));
      break;
    case 3:
      passed.push_back(memory_of(0, 0));
      break;
    case 4:
      passed.push_back(memory_of(in_.word(), harness::all_seals));
      break;
    case 5: // that can't be mapped for writing
      passed.push_back(memory_of(0, harness::all_seals | F_SEAL_WRITE));
      break;
    case 6:
      passed.push_back(make_fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)));
      break;
    case 7:
      fds.assign(in_.byte(), rank.its_socket().get());
      break;
    default:
      if (*memory)
        fds.push_back(memory->get());
    }
    for (const Fd &fd : passed)
      fds.push_back(fd.get());
    (void)harness::send_passing(rank.its_socket().get(), bytes, fds, MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  static Fd memory_of(std::uint32_t more, int seals) {
    Fd out = harness::make_memory(harness::memory_bytes(ring_bytes) + more, seals);
    must(static_cast<bool>(out));
    return out;
  }

  // What it is told, if anything: an answer that makes sense.
  void hear(Rank &rank) {
    std::vector<std::byte> piece(link::daemon::text_piece);
    bool first = true;
    for (;;) {
      const ssize_t got = recv(rank.its_socket().get(), piece.data(), piece.size(), MSG_DONTWAIT);
      if (got < 0 && errno == ECONNRESET)
        continue; // told first
      if (got < 0 && errno == EAGAIN)
        return;
      if (got <= 0)
        break;
      if (rank.attached) { // a wake
        must(got == 1);
        continue;
      }
      if (!std::exchange(first, false))
        continue; // devices, or text
      Reply reply;
      std::memcpy(&reply, piece.data(), sizeof(reply));
      must(link::daemon::is_reply(reply, static_cast<std::size_t>(got)));
      if (reply.max_datagram != 0)
        rank.be_attached();
    }
    rank = {};
  }

  void open_path() {
    Rank &rank = this->rank();
    if (!rank.attached)
      return;
    const std::uint8_t whom = in_.byte();
    const std::uint16_t port =
        whom & 1 ? first_fellow + (whom >> 1 & 1) : first_rank + (whom >> 1 & 3);
    WireOrigin to = link::daemon::wire_origin({hub_->info().address.address.with_port(port), {}});
    spoil(in_, to);
    rank.write(RecordKind::open, in_.byte() % 4, to);
  }

  std::uint64_t token(std::uint64_t right) {
    const std::uint8_t other = in_.byte();
    return other % 8 ? right : other;
  }

  void note_session() {
    Rank &rank = this->rank();
    if (rank.attached)
      rank.write(RecordKind::session, in_.byte() % 4,
                 link::daemon::SessionOfPath{token(ranks_token), token(peers_token), 0, {}});
  }

  void write_record() {
    Rank &rank = this->rank();
    if (!rank.attached)
      return;
    RecordHeader header{static_cast<std::uint8_t>(in_.byte() % 9), 0, 0, in_.byte() % 8u};
    spoil(in_, header);
    const std::size_t len = in_.byte();
    const std::size_t more = in_.byte() % 16 == 0 ? in_.word() % 12'000 : 0;
    const std::span<const std::byte> given = in_.bytes(len);
    std::vector<std::byte> body(given.begin(), given.end());
    body.resize(body.size() + more);
    rank.write(header, body);
  }

  // Datagrams of a session, many.
  void write_packets() {
    Rank &rank = this->rank();
    if (!rank.attached)
      return;
    const RecordHeader header{static_cast<std::uint8_t>(RecordKind::data), in_.byte(), 0,
                              in_.byte() % 4u};
    const std::vector<std::byte> packet = forged_packet(in_, peers_token);
    for (unsigned n = in_.byte() + 1u; n > 0 && rank.write(header, packet); --n) {
    }
  }

  // In the memory that it shares.
  void scribble() {
    if (Rank &rank = this->rank(); rank.attached)
      fuzz::scribble(in_, rank.channel.segment);
  }

  void write_word() {
    if (Rank &rank = this->rank(); rank.attached)
      fuzz::write_word(in_, rank.channel.segment, End::acceptor, rank.channel.tx.position());
  }

  void read_something() {
    Rank &rank = this->rank();
    if (!rank.attached)
      return;
    const std::byte *data;
    std::uint32_t len;
    for (unsigned n = in_.byte(); n > 0; --n)
      if (rank.channel.rx.next(data, len) != link::host::RingConsumer::Next::datagram)
        break;
    rank.channel.rx.release();
    if (in_.byte() & 1)
      rank.channel.sleep();
    hear(rank);
  }

  // From a peer's host, to a rank or where probes are answered.
  void come_from_outside() {
    const bool probe = in_.byte() % 8 == 0;
    const std::uint8_t from = in_.byte();
    Address to = hub_->info().address.address.with_port(probe ? check::default_port : first_rank);
    if (!probe)
      to.port = static_cast<std::uint16_t>(to.port + in_.byte() % ranks_.size());
    const Address source =
        from & 1 ? Address::v4(0x0a010000 + from, 4000)
                 : hub_->info().address.address.with_port(first_rank + (from >> 1 & 3));
    const std::vector<std::byte> packet =
        probe ? forged_probe(in_) : forged_packet(in_, ranks_token);
    for (unsigned n = in_.byte() % 64 + 1; n > 0; --n)
      hub_->deliver(source, to, {reinterpret_cast<const char *>(packet.data()), packet.size()});
  }

  void change_mood() {
    number_ = in_.byte() % ranks_.size();
    Hub::Mood &mood = hub_->mood(port_of_rank());
    const std::uint8_t how = in_.byte();
    mood.room = how & 1 ? how >> 4 : -1;
    mood.open_result = how & 2 ? -EHOSTUNREACH : 0;
    mood.opens_late = how & 4;
  }

  void tell_of_paths() {
    number_ = in_.byte() % ranks_.size();
    const bool up = in_.byte() & 1;
    hub_->tell(port_of_rank(), up ? link::PathEventKind::up : link::PathEventKind::failed,
               up ? 0 : -EHOSTUNREACH);
  }

  Input in_;
  const std::uint8_t how_;
  const std::string name_ =
      (how_ & 2 ? "/tmp/dpdkx-fuzz-" : "@dpdkx-fuzz-") + std::to_string(getpid());
  const std::shared_ptr<Hub> hub_ = std::make_shared<Hub>();
  std::unique_ptr<daemon::Daemon> daemon_;
  std::array<Rank, 2> fellows_;
  std::array<Rank, 4> ranks_;
  std::size_t number_ = 0; // of the rank that is the step's
  Time now_ = SystemClock::instance().now();
  unsigned said_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0)
    return 0;
  set_log_sink([](LogLevel, std::string_view text) { must_be_one_line(text); });
  const int free = lowest_free_descriptor();
  Fuzz({data, size}).run();
  for (int i = 0; lowest_free_descriptor() != free; ++i) { // another thread closes them
    must(i < 10'000);
    usleep(1000);
  }
  return 0;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/daemon.h"

#include "dpdkx/base/log.h"
#include "dpdkx/link/host/unix_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dpdkx::daemon {

namespace {

// Sockets are looked at so often while there is traffic: a system call in every turn would cost
// more than the turn. So long waits who asks, and each fi_getinfo(3) of the host does.
constexpr Duration look_every = std::chrono::microseconds(200);
// Devices have timers of their own (address resolution) that nothing wakes for.
constexpr Duration longest_sleep = std::chrono::milliseconds(100);

// Devices that can't wake it are looked at after a hundredth of the time for which nothing has
// come, but no more rarely than this times blind_poll.
constexpr int calm_share = 100, calm_factor = 20;

constexpr std::uint16_t first_free_port = 1024; // others than root may have it, as of the kernel's

constexpr unsigned notes_a_look = 32;        // of one rank
constexpr std::uint64_t faults_to_log = 100; // then silence: anybody could fill a disk

// Marks the descriptor of an attachment's process in its tag; else it is the socket's.
constexpr std::uint64_t process_bit = 1;

timespec to_timespec(Duration d) {
  return {static_cast<time_t>(d.count() / 1'000'000'000),
          static_cast<long>(d.count() % 1'000'000'000)};
}

void drain(const link::host::Fd &event) {
  eventfd_t ignored;
  (void)eventfd_read(event.get(), &ignored);
}

} // namespace

Daemon::Daemon(const Config &config, Surroundings surroundings)
    : config_(config), surroundings_(std::move(surroundings)),
      server_(
          {.devices = [this]() -> const std::vector<link::DeviceInfo> & { return infos_; },
           .status = [this] { return surroundings_.describe(status()); },
           .attach = [this](Guest &guest, const link::daemon::Request &request,
                            const link::host::Fd &memory,
                            std::string &error) { return attach(guest, request, memory, error); }}),
      started_(SystemClock::instance().now()) {}

Daemon::~Daemon() {
  for (DeviceSlot &slot : devices_)
    for (const auto &attachment : slot.attachments)
      server_.undertaker().take_socket(attachment->give_socket());
}

int Daemon::create(const Config &config, Surroundings surroundings, std::unique_ptr<Daemon> &out,
                   std::string &error) {
  std::unique_ptr<Daemon> daemon(new Daemon(config, std::move(surroundings)));
  if (const int rc = daemon->start(error))
    return rc;
  out = std::move(daemon);
  return 0;
}

int Daemon::start(std::string &error) {
  {
    const link::host::ForkHold hold;
    epoll_ = link::host::Fd(epoll_create1(EPOLL_CLOEXEC), hold);
    sleep_epoll_ = link::host::Fd(epoll_create1(EPOLL_CLOEXEC), hold);
    control_ = link::host::Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), hold);
  }
  if (!epoll_ || !sleep_epoll_ || !control_) {
    const int rc = std::min({epoll_.error(), sleep_epoll_.error(), control_.error()});
    error = std::string("no descriptor to wait on: ") + std::strerror(-rc);
    return rc;
  }
  // First the name, so that of two daemons the second leaves the device alone.
  if (const int rc = server_.listen(config_.socket, error))
    return rc;
  for (const DeviceConfig &device : config_.devices) {
    DeviceSlot slot;
    if (const int rc = surroundings_.open_device(device, slot.device, error))
      return rc;
    if (const int rc = open_check_port(slot, error))
      return rc;
    infos_.push_back(slot.device->info());
    devices_.push_back(std::move(slot));
  }
  if (!watch(epoll_, server_.fd(), 0) || !watch(epoll_, control_.get(), 0) ||
      !watch(sleep_epoll_, epoll_.get(), 0)) {
    const int rc = -errno;
    error = std::string("epoll_ctl: ") + std::strerror(-rc);
    return rc;
  }
  return 0;
}

int Daemon::open_check_port(DeviceSlot &slot, std::string &error) {
  if (config_.check_port == 0)
    return 0;
  std::unique_ptr<link::Port> port;
  const Address wanted = slot.device->info().address.address.with_port(config_.check_port);
  if (const int rc = slot.device->open_port(wanted, {}, port, error)) {
    error = "check-port: " + std::to_string(config_.check_port) + ": " + error;
    if (rc != -EADDRINUSE)
      return rc;
    log(LogLevel::warn, [&] { return error + "; dpdkx-check is not answered here"; });
    return 0;
  }
  wait_on(slot, *port);
  slot.check_port = std::make_unique<CheckPort>(std::move(port));
  return 0;
}

void Daemon::wait_on(DeviceSlot &slot, link::Port &port) {
  if (slot.device->collects()) {
    if (slot.waiter != nullptr)
      return;
    slot.waiter = &port;
  }
  if (const int fd = port.wait_fd(); fd >= 0)
    watch(sleep_epoll_, fd, 0);
}

// --- ranks ---

int Daemon::may_attach(const link::host::Peer &who, const link::daemon::Request &request,
                       std::string &error) const {
  for (const std::uint16_t port : {request.port, request.bulk_port})
    if (who.uid != 0 && port != 0 && port < first_free_port) {
      error = "UDP port " + std::to_string(port) + " is for root alone; allowed: from " +
              std::to_string(first_free_port) + " on (FI_DPDKX_PORT_RANGE)";
      return -EACCES;
    }
  if (count_ >= config_.max_ranks) {
    error = "max-ranks is " + std::to_string(config_.max_ranks) + ", and so many are attached";
    return -EUSERS;
  }
  const auto of_user = count_of_user_.find(who.uid);
  if (who.uid != 0 && who.uid != own_user_ && of_user != count_of_user_.end() &&
      of_user->second >= config_.share_of_user()) {
    error = "max-ranks-per-user is " + std::to_string(config_.share_of_user()) + ", and user " +
            std::to_string(who.uid) + " has so many attached";
    return -EUSERS;
  }
  if (request.ring_bytes > config_.max_ring) {
    error = "max-ring is " + std::to_string(config_.max_ring) + ", its rings have " +
            std::to_string(request.ring_bytes) + " bytes (FI_DPDKX_DAEMON_RING)";
    return -EFBIG;
  }
  return 0;
}

int Daemon::attach(Guest &guest, const link::daemon::Request &request, const link::host::Fd &memory,
                   std::string &error) {
  const link::DeviceInfo *const found =
      link::daemon::find_device(infos_, link::daemon::text_of(request.device), error);
  if (found == nullptr)
    return -ENODEV;
  DeviceSlot &slot = devices_[static_cast<std::size_t>(found - infos_.data())];
  if (const int rc = may_attach(guest.who, request, error))
    return rc;
  link::host::Segment segment;
  if (const int rc = link::host::Segment::attach(memory, request.ring_bytes, segment)) {
    error = "its memory can't be mapped, or is not as it must be";
    return rc;
  }
  link::host::Fd process = link::host::watch_process(guest.socket, guest.who);

  Address wanted;
  std::ranges::copy(request.ip, wanted.ip.begin());
  wanted.port = request.port;
  link::PortOptions options;
  if (request.has_dscp)
    options.dscp = request.dscp;
  options.bulk_port = request.bulk_port;
  std::unique_ptr<link::Port> port;
  int rc = slot.device->open_port(wanted, options, port, error);
  if (rc == -EADDRINUSE) {
    // Its last owner may just have gone, and not be seen to have.
    look_at_ranks();
    rc = slot.device->open_port(wanted, options, port, error);
  }
  if (rc != 0)
    return rc;

  link::daemon::Reply reply = link::daemon::make_reply(0);
  reply.max_datagram = port->traits().max_datagram;
  reply.bulk_port = port->bulk_port();
  reply.takes_joined = port->traits().takes_joined;
  auto attachment = std::make_unique<Attachment>(
      config_, std::move(segment), std::move(guest.socket), std::move(process), guest.who, request,
      std::move(port), SystemClock::instance().now());
  const auto tag = reinterpret_cast<std::uint64_t>(attachment.get());
  if (!watch(epoll_, attachment->socket().get(), tag) ||
      (attachment->process() && !watch(epoll_, attachment->process().get(), tag | process_bit))) {
    rc = -errno;
    error = std::string("it can't be watched: ") + std::strerror(-rc);
    forget(*attachment);
    guest.socket = attachment->give_socket(); // where it is told so
    return rc;
  }
  wait_on(slot, attachment->port());
  log(LogLevel::info, [&] {
    return to_string(attachment->address()) + ": process " + std::to_string(attachment->pid()) +
           " of user " + std::to_string(attachment->user()) + " is attached";
  });
  (void)send(attachment->socket().get(), &reply, sizeof(reply), MSG_DONTWAIT | MSG_NOSIGNAL);
  ++count_of_user_[attachment->user()];
  slot.attachments.push_back(std::move(attachment));
  ++count_;
  return 0;
}

void Daemon::look(Time now) {
  next_look_ = now + look_every;
  const bool others = look_at_ranks();
  if (others) {
    drain(control_);
    take_reload();
  }
  if (others || server_.busy())
    server_.look(now);
}

// Ends those that have gone. True: there is something else besides.
bool Daemon::look_at_ranks() {
  epoll_event found[64];
  const int n = epoll_wait(epoll_.get(), found, std::size(found), 0);
  bool others = false;
  for (int i = 0; i < n; ++i) {
    const std::uint64_t tag = found[i].data.u64;
    if (tag == 0) {
      others = true;
      continue;
    }
    auto &attachment = *reinterpret_cast<Attachment *>(tag & ~process_bit);
    if ((tag & process_bit) || has_closed(attachment))
      gone_.push_back(&attachment);
  }
  if (n == static_cast<int>(std::size(found)))
    next_look_ = {}; // there may be more
  end_gone();
  return others;
}

// Takes the wakes out of its socket. Nothing else has any business there.
bool Daemon::has_closed(Attachment &attachment) {
  for (unsigned i = 0; i < notes_a_look; ++i) {
    std::byte note[1];
    std::vector<link::host::Fd> passed;
    const ssize_t got = link::host::peek_with_descriptors(attachment.socket(), note, passed);
    if (got == 0 || got == -EAGAIN || got == -ECONNRESET)
      return got != -EAGAIN;
    if (got != 1 || !passed.empty()) {
      attachment.malformed("a message that is no wake");
      return true;
    }
    link::host::drop_message(attachment.socket());
  }
  return false;
}

void Daemon::end_gone() {
  for (const Attachment *gone : gone_)
    for (DeviceSlot &slot : devices_) {
      std::erase_if(slot.attachments, [&](const std::unique_ptr<Attachment> &attachment) {
        if (attachment.get() != gone)
          return false;
        end(*attachment);
        if (slot.waiter == &attachment->port())
          slot.waiter = nullptr;
        return true;
      });
      if (slot.device->collects() && slot.waiter == nullptr && !slot.attachments.empty())
        wait_on(slot, slot.attachments.front()->port());
    }
  gone_.clear();
}

// Closing its descriptors isn't enough: another thread does that, and some child may hold a copy.
void Daemon::forget(const Attachment &attachment) {
  for (const int fd : {attachment.socket().get(), attachment.process().get()})
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void Daemon::end(Attachment &attachment) {
  forget(attachment);
  epoll_ctl(sleep_epoll_.get(), EPOLL_CTL_DEL, attachment.port().wait_fd(), nullptr);
  attachment.end();
  server_.undertaker().take_socket(attachment.give_socket());
  --count_;
  if (const auto of_user = count_of_user_.find(attachment.user()); --of_user->second == 0)
    count_of_user_.erase(of_user);
  if (attachment.fault() != nullptr && ++faults_ <= faults_to_log)
    log(LogLevel::warn, [&] {
      return "process " + std::to_string(attachment.pid()) + " of user " +
             std::to_string(attachment.user()) + ", at " + to_string(attachment.address()) +
             ", has written " + attachment.fault() + ": it is detached";
    });
  log(LogLevel::info, [&] {
    return to_string(attachment.address()) + ": process " + std::to_string(attachment.pid()) +
           " is detached";
  });
}

// --- the loop ---

// `serve` is given each attachment.
template <class Serve> bool Daemon::DeviceSlot::poll(Time now, Serve &&serve) const {
  if (device->collects())
    device->collect(Attachment::datagrams_a_turn);
  bool did = check_port && check_port->turn(now);
  for (const auto &attachment : attachments)
    did |= serve(*attachment);
  return did;
}

bool Daemon::turn(Time now) {
  ++turns_;
  bool did = false;
  for (const DeviceSlot &slot : devices_)
    did |= slot.poll(now, [&](Attachment &attachment) {
      const bool busy = attachment.turn(now);
      if (attachment.broken()) [[unlikely]]
        gone_.push_back(&attachment);
      return busy;
    });
  if (now >= next_look_ || !gone_.empty())
    look(now);
  return did;
}

void Daemon::run() {
  pinning_.emplace(pthread_self());
  stay_on(config_.processor);
  busy_at_ = SystemClock::instance().now();
  while (!stopping_.load(std::memory_order_relaxed)) {
    const Time now = SystemClock::instance().now();
    const bool did = turn(now);
    idle_.after_turn(did);
    if (did)
      busy_at_ = now;
    else if (now - busy_at_ >= config_.sleep_after)
      sleep(now);
  }
  for (DeviceSlot &slot : devices_) // what ranks have sent leaves; they attach to a successor
    for (const auto &attachment : slot.attachments)
      attachment->end();
}

void Daemon::stop() {
  stopping_.store(true, std::memory_order_relaxed);
  (void)eventfd_write(control_.get(), 1);
}

void Daemon::reload(const Config &config) {
  {
    const std::lock_guard lock(reload_mutex_);
    reload_ = config;
  }
  (void)eventfd_write(control_.get(), 1);
}

void Daemon::take_reload() {
  std::optional<Config> fresh;
  {
    const std::lock_guard lock(reload_mutex_);
    fresh.swap(reload_);
  }
  if (!fresh)
    return;
  config_.max_ranks = fresh->max_ranks;
  config_.max_ranks_per_user = fresh->max_ranks_per_user;
  config_.max_ring = fresh->max_ring;
  config_.sleep_after = fresh->sleep_after;
  config_.blind_poll = fresh->blind_poll;
  config_.acknowledge_after = fresh->acknowledge_after; // of who attaches from now on
  if (fresh->processor != std::exchange(config_.processor, fresh->processor))
    stay_on(config_.processor);
}

// Negative: on any.
void Daemon::stay_on(int processor) {
  if (!pinning_ || pinning_->to(processor))
    return;
  log(LogLevel::warn, [&] {
    return "processor: the forwarding thread can't be kept on " + std::to_string(processor) + ": " +
           std::strerror(errno);
  });
}

// --- sleep ---

template <class Each> void Daemon::DeviceSlot::ports(Each &&each) const {
  if (device->collects()) {
    if (waiter != nullptr)
      each(*waiter);
    return;
  }
  if (check_port)
    each(check_port->port());
  for (const auto &attachment : attachments)
    each(attachment->port());
}

// The ranks wake it all the time. So a look at devices that can't leaves them alone, and it sleeps
// on if nothing has come.
void Daemon::sleep(Time now) {
  Unwatched unwatched;
  if (arm_all(unwatched)) {
    const Time end = now + (server_.crowded() ? look_every : longest_sleep);
    int ready = 0;
    bool did = false;
    do {
      const bool blind = unwatched.device || unwatched.room;
      const Time until = blind ? std::min(end, now + blind_pause(now)) : end;
      const timespec timeout = to_timespec(std::max(until - now, Duration::zero()));
      pollfd wait{sleep_epoll_.get(), POLLIN, 0};
      ready = ppoll(&wait, 1, &timeout, nullptr);
      ++sleeps_;
      now = SystemClock::instance().now();
      did = ready == 0 && unwatched.device && look_at_devices(now);
    } while (ready == 0 && !did && !unwatched.room && now < end);
    if (ready > 0 || did)
      busy_at_ = now; // polls for a while
  }
  disarm_all();
  look(SystemClock::instance().now());
}

Duration Daemon::blind_pause(Time now) const {
  return std::clamp((now - busy_at_) / calm_share, config_.blind_poll,
                    calm_factor * config_.blind_poll);
}

// At those that can't wake it; true: something had come.
bool Daemon::look_at_devices(Time now) {
  bool did = false;
  for (const DeviceSlot &slot : devices_) {
    bool wakes = true;
    slot.ports([&](link::Port &port) { wakes = wakes && port.wait_fd() >= 0; });
    if (!wakes)
      did |= slot.poll(now, [&](Attachment &attachment) { return attachment.take_in(now); });
  }
  return did;
}

bool Daemon::arm_all(Unwatched &unwatched) {
  bool armed = true;
  for (const DeviceSlot &slot : devices_) {
    for (const auto &attachment : slot.attachments) {
      unwatched.room |= attachment->waits_for_room();
      if (!attachment->arm())
        return false;
    }
    slot.ports([&](link::Port &port) {
      const bool wakes = port.wait_fd() >= 0;
      unwatched.device |= !wakes;
      armed = armed && (!wakes || port.arm());
    });
  }
  return armed && !stopping_.load(std::memory_order_relaxed);
}

void Daemon::disarm_all() {
  for (const DeviceSlot &slot : devices_) {
    for (const auto &attachment : slot.attachments)
      attachment->disarm();
    slot.ports([](link::Port &port) { port.disarm(); });
  }
}

bool Daemon::watch(const link::host::Fd &epoll, int fd, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  return epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

// --- status ---

Status Daemon::status() {
  const Time now = SystemClock::instance().now();
  Status out;
  out.version = surroundings_.version;
  out.socket = config_.socket;
  out.pid = getpid();
  out.up = now - started_;
  timespec used{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0)
    out.processor_time = std::chrono::seconds(used.tv_sec) + Duration(used.tv_nsec);
  out.turns = turns_;
  out.sleeps = sleeps_;
  out.ranks_refused = server_.refused();
  out.max_ranks = config_.max_ranks;
  out.max_ranks_per_user = config_.share_of_user();
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    DeviceStatus device;
    device.info = infos_[i];
    device.counters = devices_[i].device->statistics();
    for (const link::DeviceQueue &queue : devices_[i].device->queues()) {
      const std::string owner = queue.owner.port != 0 ? "rank " + to_string(queue.owner) : "free";
      device.queues.push_back({queue.index, queue.of_pool ? "eager" : owner, queue.packets});
    }
    if (const auto &port = devices_[i].check_port)
      device.probes = {port->port().address().port, port->answered(), port->refused()};
    for (const auto &attachment : devices_[i].attachments)
      device.ranks.push_back(attachment->status(now));
    out.devices.push_back(std::move(device));
  }
  return out;
}

} // namespace dpdkx::daemon

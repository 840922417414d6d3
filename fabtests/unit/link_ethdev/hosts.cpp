// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/link_ethdev/hosts.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/unit.h"

namespace hosts {

struct Shared {
  pthread_barrier_t barrier;
  std::atomic<std::uint64_t> words[8], arrivals;
  std::uint64_t processes;
  bool v6;
};

void Host::meet() const { pthread_barrier_wait(&shared_.barrier); }

std::atomic<std::uint64_t> &Host::word(int i) const { return shared_.words[i]; }

std::uint64_t Host::arrive() {
  ++shared_.arrivals;
  return ++meetings_ * shared_.processes;
}

bool Host::v6() const { return shared_.v6; }

net::Ip Host::ip_of(int rank, bool v6) {
  auto last = static_cast<std::uint8_t>(rank + 1);
  if (!v6)
    return net::Ipv4{0x0a4d0000u + last};
  net::Ip ip;
  ip.bytes = {0xfd, 0, 0, 0x77};
  ip.bytes.back() = last;
  return ip;
}

std::string Host::setting() const { return to_string(ip()) + (v6() ? "/64" : "/24"); }

std::atomic<std::uint64_t> &Host::arrivals() const { return shared_.arrivals; }

namespace {

constexpr auto patience = std::chrono::seconds(10);
constexpr int case_timeout_ms = 60000;
constexpr int skip_code = 77;

class Namespaces {
public:
  Namespaces() = default;
  ~Namespaces() {
    for (int fd : {fds_[0], fds_[1], home_})
      if (fd >= 0)
        close(fd);
  }
  Namespaces(const Namespaces &) = delete;

  // null, or why there are none.
  const char *make(const Setup &setup) {
    home_ = open_own();
    for (int &fd : fds_) {
      if (unshare(CLONE_NEWNET) != 0)
        return "no right to make network namespaces (needs root)";
      fd = open_own();
    }
    bool made = setns(fds_[0], CLONE_NEWNET) == 0 && shell(link_command(setup)) &&
                configure(setup, 0) && setns(fds_[1], CLONE_NEWNET) == 0 && configure(setup, 1);
    bool back = setns(home_, CLONE_NEWNET) == 0;
    return made && back ? nullptr
                        : "no veth interfaces here (needs iproute2 and a kernel with veth)";
  }
  bool enter(int rank) const { return setns(fds_[rank], CLONE_NEWNET) == 0; }

private:
  static int open_own() { return ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC); }

  std::string link_command(const Setup &setup) const {
    auto mtu = std::to_string(setup.mtu);
    return "ip link add dpx0 mtu " + mtu + " type veth peer name dpx1 mtu " + mtu +
           " netns /proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fds_[1]);
  }
  static bool configure(const Setup &setup, int rank) {
    auto name = std::string("dpx") + static_cast<char>('0' + rank);
    auto last = std::to_string(rank + 1);
    auto address = setup.v6 ? "fd00:77::" + last + "/64 nodad" : "10.77.0." + last + "/24";
    return shell("ip link set lo up") && shell("ip link set " + name + " up") &&
           (!setup.addresses || shell("ip addr add " + address + " dev " + name));
  }

  int fds_[2] = {-1, -1}, home_ = -1;
};

Shared *make_shared_memory(std::size_t processes, bool v6) {
  void *memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED);
  auto *shared = new (memory) Shared{};
  shared->processes = processes;
  shared->v6 = v6;
  pthread_barrierattr_t attr;
  pthread_barrierattr_init(&attr);
  pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attr, static_cast<unsigned>(processes));
  return shared;
}

// A processor for each rank, as far as there are: the kernel keeps the order of what one of them
// sends, not that of what a thread sends which moves from one to another.
void stay_on_a_processor(int rank) {
  cpu_set_t allowed, one;
  CHECK(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
  int before = rank % CPU_COUNT(&allowed), cpu = 0;
  for (; !CPU_ISSET(cpu, &allowed) || before-- > 0; ++cpu)
    ;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
}

[[noreturn]] void be_process(const Part &part, Host host, const Namespaces *namespaces) {
  int code = 1;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    CHECK(namespaces == nullptr || namespaces->enter(host.rank()));
    stay_on_a_processor(host.rank());
    part(host);
    code = 0;
  } catch (const Skip &why) {
    std::fprintf(stderr, "host %d: skipped: %s\n", host.rank(), why.what());
    code = skip_code;
  } catch (const std::exception &fault) {
    std::fprintf(stderr, "host %d: %s\n", host.rank(), fault.what());
  }
  std::fflush(nullptr);
  _exit(code);
}

struct Process {
  pid_t pid;
  int fd;
};

// Whether all were good; those that skipped count as such.
bool wait_for(const std::vector<Process> &processes, bool &skipped) {
  std::vector<pollfd> fds;
  for (const auto &process : processes)
    fds.push_back({process.fd, POLLIN, 0});
  auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(case_timeout_ms);
  bool good = true;
  for (std::size_t left = processes.size(); left > 0 && good;) {
    auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (rest.count() <= 0 || poll(fds.data(), fds.size(), static_cast<int>(rest.count())) == 0) {
      std::fprintf(stderr, "a process hasn't ended in time\n");
      good = false;
    }
    for (std::size_t i = 0; i < fds.size(); ++i) {
      if (!(fds[i].revents & POLLIN))
        continue;
      int status = 0;
      waitpid(processes[i].pid, &status, 0);
      bool skips = WIFEXITED(status) && WEXITSTATUS(status) == skip_code;
      skipped = skipped || skips;
      status = skips ? 0 : status;
      if (status != 0)
        std::fprintf(stderr, "process %zu ended with status 0x%x\n", i, status);
      good = good && status == 0;
      close(std::exchange(fds[i].fd, -1));
      fds[i].revents = 0;
      --left;
    }
  }
  for (std::size_t i = 0; i < fds.size(); ++i)
    if (fds[i].fd >= 0) {
      kill(processes[i].pid, SIGKILL);
      waitpid(processes[i].pid, nullptr, 0);
      close(fds[i].fd);
    }
  return good;
}

// False: skipped.
bool run_parts(const std::vector<Part> &parts, const Namespaces *namespaces, bool v6) {
  auto *shared = make_shared_memory(parts.size(), v6);
  std::vector<Process> processes;
  std::fflush(nullptr);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
      be_process(parts[i], Host(*shared, static_cast<int>(i % 2)), namespaces);
    processes.push_back({pid, static_cast<int>(syscall(SYS_pidfd_open, pid, 0))});
  }
  bool skipped = false, good = wait_for(processes, skipped);
  munmap(shared, sizeof(Shared));
  assert_true(good);
  return !skipped;
}

} // namespace

void run(const Setup &setup, std::vector<Part> parts) {
  bool done = false;
  {
    Namespaces namespaces;
    if (const char *why_not = namespaces.make(setup))
      print_message("skipped: %s\n", why_not);
    else
      done = run_parts(parts, &namespaces, setup.v6);
  }
  std::vector<Part>().swap(parts); // skip() returns by longjmp
  if (!done)
    skip();
}

void run_here(std::vector<Part> parts, bool v6) {
  bool done = run_parts(parts, nullptr, v6);
  std::vector<Part>().swap(parts);
  if (!done)
    skip();
}

bool shell(const std::string &command) { return std::system(command.c_str()) == 0; }

namespace {

// A name and a number a line.
long snmp6_counter(const std::string &wanted) {
  std::ifstream file("/proc/self/net/snmp6");
  std::string name;
  for (long value = 0; file >> name >> value;)
    if (name == wanted)
      return value;
  throw std::runtime_error("no kernel counter " + wanted);
}

// A line of names, a line of numbers.
long snmp_counter(const std::string &protocol, const std::string &name) {
  std::ifstream file("/proc/self/net/snmp");
  std::string names, values, word;
  while (std::getline(file, names) && std::getline(file, values)) {
    if (names.rfind(protocol + ":", 0) != 0)
      continue;
    std::istringstream n(names), v(values);
    long value = 0;
    n >> word, v >> word;
    while (n >> word && v >> value)
      if (word == name)
        return value;
  }
  throw std::runtime_error("no kernel counter " + protocol + " " + name);
}

} // namespace

long kernel_unreachables(const Host &host) {
  return host.v6() ? snmp6_counter("Icmp6OutDestUnreachs")
                   : snmp_counter("Icmp", "OutDestUnreachs");
}

long kernel_arrivals(const Host &host) {
  return host.v6() ? snmp6_counter("Ip6InReceives") : snmp_counter("Ip", "InReceives");
}

long kernel_without_port(const Host &host) {
  return host.v6() ? snmp6_counter("Udp6NoPorts") : snmp_counter("Udp", "NoPorts");
}

link::DeviceRequest request(const std::string &device, const std::string &address) {
  std::vector<net::DeviceSpec> specs;
  std::vector<std::optional<net::AddressSpec>> addresses;
  std::string error;
  if (!net::parse_devices(device, specs, error) || !net::parse_addresses(address, addresses, error))
    throw std::runtime_error(error);
  return {specs.at(0), addresses.empty() ? std::nullopt : addresses[0]};
}

std::shared_ptr<link::Device> open(const link::DeviceRequest &what,
                                   const link::DeviceOptions &options) {
  std::shared_ptr<link::Device> device;
  std::string error;
  if (dpdkx_ethdev_module()->open_device(what, options, device, error) != 0)
    throw std::runtime_error(error);
  return device;
}

int fail_to_open(const link::DeviceRequest &what, const link::DeviceOptions &options,
                 std::string &error) {
  std::shared_ptr<link::Device> device;
  return dpdkx_ethdev_module()->open_device(what, options, device, error);
}

End::End(std::shared_ptr<link::Device> device, std::uint16_t number,
         const link::PortOptions &options) {
  Address any = Address::v4(0, number);
  std::string error;
  if (device->open_port(any, options, port_, error) != 0)
    throw std::runtime_error(error);
}

link::PathId End::open_path(const Address &peer) {
  link::PathId path{};
  int rc = port_->open_path(peer, path);
  if (rc != 0)
    throw std::runtime_error("open_path: " + std::to_string(rc));
  return path;
}

link::PathId End::connect(const Address &peer) {
  auto path = open_path(peer);
  auto event = wait_event();
  CHECK(event.kind == link::PathEventKind::up);
  CHECK(event.path == path);
  return path;
}

void End::turn() {
  link::RxDatagram datagrams[8];
  auto n = port_->poll(datagrams, 8);
  for (unsigned i = 0; i < n; ++i)
    received_.push_back({{datagrams[i].data, datagrams[i].data + datagrams[i].len},
                         port_->source(datagrams[i]),
                         datagrams[i].path});
  port_->release(datagrams, n);
  link::PathEvent events[8];
  auto m = port_->poll_events(events, 8, SystemClock::instance().now());
  events_.insert(events_.end(), events, events + m);
  if (n + m == 0)
    sched_yield();
}

link::PathEvent End::wait_event() {
  for (auto end = std::chrono::steady_clock::now() + patience; events_.empty(); turn())
    CHECK(std::chrono::steady_clock::now() < end);
  auto event = events_.front();
  events_.erase(events_.begin());
  return event;
}

void End::meet(Host &host) {
  auto all = host.arrive();
  auto end = std::chrono::steady_clock::now() + patience;
  for (; host.arrivals() < all; turn())
    CHECK(std::chrono::steady_clock::now() < end);
}

void End::send(link::PathId path, const std::vector<std::byte> &bytes, bool bulk) {
  auto end = std::chrono::steady_clock::now() + patience;
  auto room = port_->reserve(path, static_cast<std::uint32_t>(bytes.size()));
  while (room.data == nullptr) {
    CHECK(std::chrono::steady_clock::now() < end);
    turn();
    room = port_->reserve(path, static_cast<std::uint32_t>(bytes.size()));
  }
  CHECK(room.capacity >= bytes.size());
  std::copy(bytes.begin(), bytes.end(), room.data);
  room.bulk = bulk;
  port_->commit(path, room, static_cast<std::uint32_t>(bytes.size()));
  port_->flush();
}

End::Received End::receive() {
  for (auto end = std::chrono::steady_clock::now() + patience; received_.empty(); turn())
    CHECK(std::chrono::steady_clock::now() < end);
  auto first = std::move(received_.front());
  received_.erase(received_.begin());
  return first;
}

bool End::quiet(std::chrono::milliseconds span) {
  for (auto end = std::chrono::steady_clock::now() + span;
       std::chrono::steady_clock::now() < end && received_.empty() && events_.empty();)
    turn();
  return received_.empty() && events_.empty();
}

std::uint64_t statistic(link::Device &device, const std::string &name) {
  for (const auto &[key, value] : device.statistics())
    if (key == name)
      return value;
  throw std::runtime_error("no statistic " + name);
}

void echo_sizes(Host &host, const std::vector<std::size_t> &sizes,
                const std::shared_ptr<link::Device> &device, const net::Ip &peer) {
  End end(device, 5000);
  auto path = end.connect(at(peer, 5000));
  end.meet(host);
  unsigned seed = 0;
  for (auto size : sizes) {
    ++seed;
    if (host.rank() == 0)
      end.send(path, pattern(size, seed));
    auto got = end.receive();
    CHECK(got.bytes == pattern(size, seed));
    CHECK(got.source == at(peer, 5000));
    CHECK(got.path == path);
    if (host.rank() == 1)
      end.send(path, got.bytes);
  }
  end.meet(host);
}

void run_both(const Setup &setup, const Part &part) { run(setup, {part, part}); }

void run_each(Setup setup, const Part &part) {
  for (bool v6 : {false, true}) {
    setup.v6 = v6;
    run_both(setup, part);
  }
}

std::vector<std::byte> pattern(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(i * 7 + seed * 131 + (i >> 8));
  return bytes;
}

} // namespace hosts

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What an application notices of DPDK in its process: nothing.
#include "common/sanitized.h"
#include "unit/link_ethdev/hosts.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <linux/capability.h>
#include <sched.h>
#include <set>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "unit/unit.h"

using namespace hosts;

namespace {

// Sanitizers have memory of their own.
void skip_if_sanitized() {
  if (fabtest::sanitized)
    throw Skip("memory can't be measured under a sanitizer");
}

struct Process {
  cpu_set_t affinity;
  sigset_t blocked;
  struct sigaction actions[NSIG];
  FILE *out, *err;
  std::set<std::string> runtime; // what lies where DPDK keeps its files

  static Process now() {
    Process p{};
    sched_getaffinity(0, sizeof(p.affinity), &p.affinity);
    pthread_sigmask(SIG_SETMASK, nullptr, &p.blocked);
    for (int i = 1; i < NSIG; ++i)
      sigaction(i, nullptr, &p.actions[i]);
    p.out = stdout;
    p.err = stderr;
    std::error_code ignored;
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator("/var/run/dpdk", ignored))
      if (entry.path().string().find("-" + std::to_string(getpid())) != std::string::npos)
        p.runtime.insert(entry.path()); // others come and go
    return p;
  }
};

void check_same(const Process &a, const Process &b) {
  CHECK(CPU_EQUAL(&a.affinity, &b.affinity));
  for (int i = 1; i < NSIG; ++i) {
    CHECK(sigismember(&a.blocked, i) == sigismember(&b.blocked, i));
    CHECK(a.actions[i].sa_handler == b.actions[i].sa_handler);
    CHECK(a.actions[i].sa_flags == b.actions[i].sa_flags);
  }
  CHECK(a.out == b.out && a.err == b.err);
  CHECK(a.runtime == b.runtime);
}

// What goes to a file descriptor, kept in an unlinked file.
class Capture {
public:
  explicit Capture(int fd) : fd_(fd), saved_(dup(fd)), file_(std::tmpfile()) {
    dup2(fileno(file_), fd);
  }
  ~Capture() {
    dup2(saved_, fd_);
    close(saved_);
    std::fclose(file_);
  }
  std::string text() const {
    std::string all(4096, '\0');
    auto n = pread(fileno(file_), all.data(), all.size(), 0);
    all.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return all;
  }

private:
  int fd_, saved_;
  FILE *file_;
};

std::size_t open_files() {
  auto all = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

long resident_kib() {
  std::ifstream file("/proc/self/statm");
  long size = 0, resident = 0;
  file >> size >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

} // namespace

static void start__leaves_the_process_as_it_was(void **) {
  run({}, {[](Host &host) {
        cpu_set_t all; // more than EAL would leave
        std::memset(&all, 0xff, sizeof(all));
        CHECK(sched_setaffinity(0, sizeof(all), &all) == 0);
        std::signal(SIGBUS, [](int) {});
        sigset_t some;
        sigemptyset(&some);
        sigaddset(&some, SIGUSR2);
        pthread_sigmask(SIG_BLOCK, &some, nullptr);
        auto before = Process::now();
        Capture out(1), err(2);
        {
          auto device = open(request(host.interface()));
          check_same(before, Process::now());
        }
        check_same(before, Process::now());
        std::fflush(nullptr);
        CHECK(out.text().empty());
        CHECK(err.text().empty());
      }});
}

static void start__leaves_the_interface_as_it_was(void **) {
  for (const std::string mode : {"on", "off"})
    run({}, {[mode](Host &host) {
          const std::string name = host.interface();
          const std::string is_promiscuous = "ip link show " + name + " | grep -q PROMISC";
          CHECK(shell("ip link set " + name + " promisc " + mode));
          {
            auto device = open(request(name));
            CHECK(shell(is_promiscuous) == (mode == "on"));
          }
          CHECK(shell(is_promiscuous) == (mode == "on"));
        }});
}

static void keep_capabilities(std::uint32_t kept, uid_t as = 65534) {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct caps[2]{};
  caps[0].effective = caps[0].permitted = kept;
  CHECK(prctl(PR_SET_KEEPCAPS, 1) == 0 && setresuid(as, as, as) == 0 &&
        syscall(SYS_capset, &head, caps) == 0);
}

static void start__without_a_capability_names_it(void **) {
  for (const bool dpdk : {false, true})
    run({}, {[dpdk](Host &host) {
          const std::string interface = host.interface();
          keep_capabilities(dpdk ? 1u << CAP_NET_RAW : 0);
          std::string error;
          CHECK(fail_to_open(dpdk ? request("net_af_packet0,iface=" + interface, host.setting())
                                  : request(interface),
                             {}, error) == -EACCES);
          CHECK(error.find("CAP_NET_RAW") != std::string::npos);
          CHECK((error.find("CAP_NET_ADMIN") != std::string::npos) == dpdk);
        }});
}

// As in a container.
static void start__without_a_capability_names_it_to_root_too(void **) {
  run({}, {[](Host &host) {
        keep_capabilities(0, 0);
        std::string error;
        CHECK(fail_to_open(request(host.interface()), {}, error) == -EACCES);
        CHECK(error.find("CAP_NET_RAW") != std::string::npos);
      }});
}

static void start__of_an_interface_needs_one_capability(void **) {
  run_both({}, [](Host &host) {
    keep_capabilities(1u << CAP_NET_RAW);
    const rlimit none{0, 0};
    CHECK(setrlimit(RLIMIT_MEMLOCK, &none) == 0);
    echo_sizes(host, {0, 100, 1400}, open(request(host.interface())));
  });
}

static void start__wrong_arguments_print_nothing(void **) {
  run({}, {[](Host &host) {
        Capture out(1), err(2);
        std::string error;
        CHECK(fail_to_open(request(host.interface()), {.eal_args = "--iova-mode=nonsense"},
                           error) != 0);
        std::fflush(nullptr);
        CHECK(out.text().empty());
        CHECK(err.text().empty());
      }});
}

static void start__that_fails_leaves_no_files(void **) {
  run({}, {[](Host &host) {
        skip_if_sanitized();
        auto before = Process::now();
        const rlimit small{400 << 20, 400 << 20};
        CHECK(setrlimit(RLIMIT_AS, &small) == 0);
        std::string error;
        CHECK(fail_to_open(request(host.interface()), {}, error) == -ENOMEM);
        check_same(before, Process::now());
      }});
}

static void start__other_threads_go_on_printing(void **) {
  run({}, {[](Host &host) {
        Capture out(1);
        std::atomic<bool> stop{false};
        int printed = 0;
        std::thread printer([&] {
          while (!stop) {
            std::printf("x");
            ++printed;
            std::this_thread::yield();
            if (printed == 1000)
              break;
          }
        });
        auto device = open(request(host.interface()));
        stop = true;
        printer.join();
        std::fflush(stdout);
        CHECK(out.text() == std::string(static_cast<std::size_t>(printed), 'x'));
      }});
}

static void start__takes_little_address_space(void **) {
  // No more address space than needed: core dumps, and limits on it.
  run({}, {[](Host &host) {
        skip_if_sanitized();
        auto device = open(request(host.interface()));
        std::ifstream file("/proc/self/statm");
        long pages = 0;
        file >> pages;
        CHECK(pages * (sysconf(_SC_PAGESIZE) / 1024) < 2 * 1024 * 1024);
      }});
}

static void open__and_close_many_times_leak_nothing(void **) {
  run({}, {[](Host &host) {
        skip_if_sanitized();
        std::size_t files = 0;
        long resident = 0;
        for (int i = 0; i < 12; ++i) {
          auto device = open(request(host.interface()));
          { End end(device, 5000); }
          device.reset();
          if (i == 3) {
            files = open_files();
            resident = resident_kib();
          }
        }
        CHECK(open_files() == files);
        CHECK(resident_kib() < resident + 1024);
      }});
}

static void fork__child_can_not_use_it_and_does_no_harm(void **) {
  auto part = [](Host &host) {
    auto device = open(request(host.interface()));
    End end(device, 5000);
    auto path = end.connect(at(host.peer_ip(), 5000));
    end.meet(host);
    auto child = fork();
    if (child == 0) {
      std::string error;
      bool good = fail_to_open(request(host.interface()), {}, error) == -EPERM &&
                  error.find("fork") != std::string::npos;
      link::RxDatagram datagram;
      good = good && end.port().poll(&datagram, 1) == 0;
      good = good && end.port().reserve(path, 8).data == nullptr;
      std::unique_ptr<link::Port> port;
      good = good && device->open_port(Address::v4(0, 0), {}, port, error) == -EPERM;
      device.reset();
      end = End(); // destroyed here too
      _exit(good ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    end.meet(host);
    end.send(path, pattern(100, 1));
    CHECK(end.receive().bytes == pattern(100, 1));
    end.meet(host);
  };
  run({}, {part, part});
}

static void kill__of_a_process_frees_its_port_and_address(void **) {
  run({}, {[](Host &host) {
        for (int i = 0; i < 3; ++i) {
          auto child = fork();
          if (child == 0) {
            auto device = open(request(host.interface()));
            End end(device, 5000);
            kill(getpid(), SIGKILL);
          }
          int status = 0;
          CHECK(waitpid(child, &status, 0) == child);
          CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        }
      }});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(start__leaves_the_process_as_it_was),
    cmocka_unit_test(start__leaves_the_interface_as_it_was),
    cmocka_unit_test(start__without_a_capability_names_it),
    cmocka_unit_test(start__without_a_capability_names_it_to_root_too),
    cmocka_unit_test(start__of_an_interface_needs_one_capability),
    cmocka_unit_test(start__wrong_arguments_print_nothing),
    cmocka_unit_test(start__that_fails_leaves_no_files),
    cmocka_unit_test(start__other_threads_go_on_printing),
    cmocka_unit_test(start__takes_little_address_space),
    cmocka_unit_test(open__and_close_many_times_leak_nothing),
    cmocka_unit_test(fork__child_can_not_use_it_and_does_no_harm),
    cmocka_unit_test(kill__of_a_process_frees_its_port_and_address),
};
static const unit::Group group{"ethdev_footprint", cases};

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/face/face.h"

#include <atomic>
#include <csignal>
#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "unit/unit.h"

using namespace dpdkx;
using face::Environment;
using face::InfoPtr;
using face::Opened;
using face::Peer;

namespace {

int threads() {
  int n = 0;
  DIR *dir = opendir("/proc/self/task");
  while (const dirent *entry = readdir(dir))
    n += entry->d_name[0] != '.';
  closedir(dir);
  return n;
}

} // namespace

static void domain__manual_progress_starts_no_thread(void **) {
  const int before = threads();
  Opened opened;
  Peer peer(opened);
  assert_int_equal(threads(), before);
}

static void domain__auto_progress_needs_no_calls(void **) {
  const InfoPtr hints = face::named_hints();
  hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
  const int before = threads();
  {
    Opened opened(hints.get());
    assert_int_equal(opened.info->domain_attr->data_progress, FI_PROGRESS_AUTO);
    assert_int_equal(threads(), before + 1);
    Peer a(opened), b(opened);
    const fi_addr_t to_b = a.knows(b);
    b.knows(a);
    // Large enough to need the other side, more than once, and pauses in which
    // the thread goes to sleep.
    std::vector<char> out(1 << 20, 'x'), in(out.size());
    for (int i = 0; i < 20; ++i) {
      assert_int_equal(fi_recv(b.ep.get(), in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, nullptr),
                       0);
      assert_int_equal(fi_send(a.ep.get(), out.data(), out.size(), nullptr, to_b, nullptr), 0);
      assert_int_equal(fi_cntr_wait(b.received.get(), static_cast<std::uint64_t>(i) + 1, 20000), 0);
      poll(nullptr, 0, i % 5);
    }
    assert_true(in == out);
  }
  assert_int_equal(threads(), before);
}

// The setting was right when it was read; the thread that opens the domain may use less.
static void domain__a_wrong_processor_is_refused(void **) {
  cpu_set_t all, rest;
  assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
  if (CPU_COUNT(&all) < 2)
    skip();
  std::size_t cpu = 0;
  while (!CPU_ISSET(cpu, &all))
    ++cpu;
  rest = all;
  CPU_CLR(cpu, &rest);
  const std::string number = std::to_string(cpu);
  const Environment environment{{"FI_DPDKX_PROGRESS_CPU", number.c_str()}};
  const InfoPtr hints = face::named_hints();
  hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
  int rc;
  const InfoPtr info = face::getinfo(hints.get(), rc);
  assert_int_equal(rc, 0);
  fid_fabric *fabric = nullptr;
  fid_domain *domain = nullptr;
  assert_int_equal(provider.fabric(info->fabric_attr, &fabric, nullptr), 0);
  assert_int_equal(sched_setaffinity(0, sizeof(rest), &rest), 0);
  rc = fi_domain(fabric, info.get(), &domain, nullptr);
  assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
  assert_int_equal(rc, -FI_EINVAL);
  assert_int_equal(fi_close(&fabric->fid), 0);
}

// One thread sleeps in the queue, another sends to itself from time to time.
static void domain__a_sleeper_wakes(void **) {
  Opened opened;
  Peer peer(opened, 0, FI_WAIT_UNSPEC);
  const fi_addr_t self = peer.knows(peer);
  constexpr int rounds = 50;
  char in[rounds];
  for (char &c : in)
    assert_int_equal(fi_recv(peer.ep.get(), &c, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  std::thread sender([&] {
    for (int i = 0; i < rounds; ++i) {
      poll(nullptr, 0, i % 4);
      while (fi_inject(peer.ep.get(), "x", 1, self) == -FI_EAGAIN)
        sched_yield();
    }
  });
  int seen = 0;
  while (seen < rounds) {
    fi_cq_tagged_entry entry;
    const ssize_t n = fi_cq_sread(peer.cq.get(), &entry, 1, nullptr, 20000);
    assert_int_equal(n, 1);
    ++seen;
  }
  sender.join();
  fi_cq_tagged_entry entry;
  assert_int_equal(fi_cq_sread(peer.cq.get(), &entry, 1, nullptr, 10), -FI_EAGAIN);
}

static void domain__a_descriptor_becomes_readable(void **) {
  Opened opened;
  Peer a(opened), b(opened, 0, FI_WAIT_FD);
  const fi_addr_t to_b = a.knows(b);
  b.knows(a);
  int fd = -1;
  assert_int_equal(fi_control(&b.cq->fid, FI_GETWAIT, &fd), 0);
  char in[8];
  assert_int_equal(fi_recv(b.ep.get(), in, sizeof(in), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  struct fid *fids[] = {&b.cq->fid};
  while (fi_trywait(opened.fabric.get(), fids, 1) == -FI_EAGAIN) {
    fi_cq_tagged_entry entry;
    assert_int_equal(fi_cq_read(b.cq.get(), &entry, 1), -FI_EAGAIN);
  }
  pollfd readable{fd, POLLIN, 0};
  assert_int_equal(poll(&readable, 1, 20), 0); // nothing yet
  assert_int_equal(fi_send(a.ep.get(), "x", 1, nullptr, to_b, nullptr), 0);
  a.completion();
  assert_int_equal(poll(&readable, 1, 20000), 1);
  b.completion();
}

// All levels but FI_THREAD_DOMAIN: everyone may call everything.
static void domain__threads_share_an_endpoint(void **) {
  const InfoPtr hints = face::named_hints();
  hints->domain_attr->threading = FI_THREAD_SAFE;
  Opened opened(hints.get());
  Peer peer(opened);
  const fi_addr_t self = peer.knows(peer);
  constexpr int each = 500, workers = 3;
  std::atomic<int> completions{0};
  std::vector<std::thread> pool;
  pool.reserve(workers);
  for (int w = 0; w < workers; ++w)
    pool.emplace_back([&] {
      char in[each];
      const auto read = [&] {
        fi_cq_tagged_entry entry;
        if (fi_cq_read(peer.cq.get(), &entry, 1) == 1)
          ++completions;
      };
      for (char &c : in) {
        while (fi_recv(peer.ep.get(), &c, 1, nullptr, FI_ADDR_UNSPEC, nullptr) == -FI_EAGAIN)
          read();
        while (fi_send(peer.ep.get(), "x", 1, nullptr, self, nullptr) == -FI_EAGAIN)
          read();
        read();
      }
      while (completions < 2 * each * workers)
        read();
    });
  for (std::thread &t : pool)
    t.join();
  assert_int_equal(completions.load(), 2 * each * workers);
}

// Endpoints come and go while other threads drive the domain.
static void domain__endpoints_come_and_go(void **) {
  Opened opened;
  Peer stays(opened);
  std::atomic<bool> stop{false};
  std::vector<std::thread> pollers;
  pollers.reserve(2);
  for (int i = 0; i < 2; ++i)
    pollers.emplace_back([&] {
      fi_cq_tagged_entry entry;
      while (!stop)
        fi_cq_read(stays.cq.get(), &entry, 1);
    });
  for (int i = 0; i < 100; ++i) {
    Peer comes(opened);
    const fi_addr_t to = comes.knows(stays);
    assert_int_equal(fi_inject(comes.ep.get(), "x", 1, to), 0);
  }
  stop = true;
  for (std::thread &t : pollers)
    t.join();
}

// A child that closes what it inherited, or just exits, disturbs nobody.
static void domain__fork_is_harmless(void **) {
  const InfoPtr hints = face::named_hints();
  hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
  Opened opened(hints.get());
  Peer a(opened), b(opened);
  const fi_addr_t to_b = a.knows(b);
  b.knows(a);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    a.ep.reset();
    a.cq.reset();
    _exit(0);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  char in[8];
  assert_int_equal(fi_recv(b.ep.get(), in, sizeof(in), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  assert_int_equal(fi_send(a.ep.get(), "x", 1, nullptr, to_b, nullptr), 0);
  b.completion();
  a.completion();
}

static void domain__regions_go_by_its_mr_mode(void **) {
  Opened opened;
  char memory[64];
  for (const int mode : {0, FI_MR_PROV_KEY, FI_MR_VIRT_ADDR, FI_MR_PROV_KEY | FI_MR_VIRT_ADDR,
                         FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_LOCAL}) {
    opened.info->domain_attr->mr_mode = mode;
    fid_domain *domain = nullptr;
    fid_mr *mr = nullptr;
    assert_int_equal(fi_domain(opened.fabric.get(), opened.info.get(), &domain, nullptr), 0);
    assert_int_equal(
        fi_mr_reg(domain, memory, sizeof(memory), FI_REMOTE_READ, 0, 5, 0, &mr, nullptr), 0);
    assert_int_equal(fi_mr_key(mr) == 5, !(mode & FI_MR_PROV_KEY));
    std::uint64_t base = 1, key;
    std::size_t size = sizeof(key);
    assert_int_equal(fi_mr_raw_attr(mr, &base, reinterpret_cast<std::uint8_t *>(&key), &size, 0),
                     0);
    assert_int_equal(base, mode & FI_MR_VIRT_ADDR ? reinterpret_cast<std::uintptr_t>(memory) : 0);
    fi_close(&mr->fid);
    assert_int_equal(fi_close(&domain->fid), 0);
  }
}

static void domain__regions_have_as_many_buffers_as_it_says(void **) {
  Opened opened;
  char byte;
  const std::vector<iovec> buffers(opened.info->domain_attr->mr_iov_limit + 1, iovec{&byte, 1});
  fid_mr *mr = nullptr;
  const auto reg = [&](std::size_t count) {
    return fi_mr_regv(opened.domain.get(), buffers.data(), count, FI_REMOTE_READ, 0, 1, 0, &mr,
                      nullptr);
  };
  assert_int_equal(reg(buffers.size()), -FI_EINVAL);
  assert_int_equal(reg(buffers.size() - 1), 0);
  assert_int_equal(fi_close(&mr->fid), 0);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(domain__manual_progress_starts_no_thread),
    cmocka_unit_test(domain__auto_progress_needs_no_calls),
    cmocka_unit_test(domain__a_wrong_processor_is_refused),
    cmocka_unit_test(domain__a_sleeper_wakes),
    cmocka_unit_test(domain__a_descriptor_becomes_readable),
    cmocka_unit_test(domain__threads_share_an_endpoint),
    cmocka_unit_test(domain__endpoints_come_and_go),
    cmocka_unit_test(domain__fork_is_harmless),
    cmocka_unit_test(domain__regions_go_by_its_mr_mode),
    cmocka_unit_test(domain__regions_have_as_many_buffers_as_it_says),
};
static const unit::Group group{"domain", cases};

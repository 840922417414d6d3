// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/host/pull.h"

#include "unit/link_host/harness.h"

#include <cerrno>
#include <cstring>
#include <numeric>
#include <random>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

using namespace link_host;
using namespace dpdkx::link::host;

namespace {

std::vector<std::uint8_t> pattern(std::size_t len) {
  std::vector<std::uint8_t> bytes(len);
  for (std::size_t i = 0; i < len; ++i)
    bytes[i] = static_cast<std::uint8_t>(i * 31 + i / 251);
  return bytes;
}

// Cuts memory into pieces of random lengths, some of them empty.
std::vector<iovec> cut(std::uint8_t *base, std::size_t len, std::size_t most,
                       std::mt19937 &random) {
  std::vector<iovec> pieces;
  while (len != 0) {
    const std::size_t piece = std::min<std::size_t>(random() % (most + 1), len);
    pieces.push_back({base, piece});
    base += piece;
    len -= piece;
  }
  return pieces;
}

using Puller = int (*)(std::span<const iovec>, std::span<const iovec>);
constexpr Puller pullers[] = {
    [](std::span<const iovec> to, std::span<const iovec> from) { return pull_here(to, from); },
    [](std::span<const iovec> to, std::span<const iovec> from) {
      return pull_from(getpid(), to, from);
    },
};

// A child that has a buffer and opens a path here; what pull() of it says.
struct Owner {
  Signal ready, over;
  std::unique_ptr<Port> port = open_port();
  static constexpr std::size_t length = 300'000;
  // At the same place in the child.
  std::vector<std::uint8_t> buffer = std::vector<std::uint8_t>(length);
  PathId path = PathId::none;
  pid_t child;

  explicit Owner(bool (*prepare)()) {
    child = in_child([&] {
      const auto own = open_port();
      PathId out;
      const std::vector<std::uint8_t> bytes = pattern(length);
      std::copy(bytes.begin(), bytes.end(), buffer.begin());
      if (!prepare() || own->open_path(port->address(), out) != 0)
        return false;
      ready.give();
      return over.await() == 1;
    });
    if (ready.await() == 1)
      path = await_event(*port, PathEventKind::accepted).path;
  }

  int pull(std::vector<std::uint8_t> &into) {
    const iovec to{into.data(), into.size()}, from{buffer.data(), into.size()};
    return port->pull(path, {&to, 1}, {&from, 1});
  }

  bool finish() {
    over.give();
    return succeeded(child);
  }
};

} // namespace

static void pull__any_cut_of_both_sides(void **) {
  std::mt19937 random(7);
  const std::size_t len = 100'000;
  std::vector<std::uint8_t> from = pattern(len);
  for (const Puller pull : pullers)
    for (const std::size_t most : {7, 100, 5000, 200'000}) {
      std::vector<std::uint8_t> to(len);
      assert_int_equal(pull(cut(to.data(), len, most, random), cut(from.data(), len, 997, random)),
                       0);
      assert_memory_equal(to.data(), from.data(), len);
    }
}

static void pull__nothing_and_surplus(void **) {
  std::vector<std::uint8_t> from = pattern(100), to(50);
  const iovec source{from.data(), 100}, target{to.data(), 50}, empty{nullptr, 0};
  for (const Puller pull : pullers) {
    assert_int_equal(pull({}, {}), 0);
    assert_int_equal(pull({&empty, 1}, {&source, 1}), 0);
    assert_int_equal(pull({&target, 1}, {&source, 1}), 0);
    assert_memory_equal(to.data(), from.data(), 50);
    assert_int_equal(pull({&source, 1}, {&target, 1}), -EFAULT);
  }
}

// 2 GiB and more in one piece, in address space that is 64 MiB over and over.
static void pull__more_than_two_gigabytes(void **) {
  constexpr std::size_t unit_bytes = std::size_t{64} << 20, units = 33;
  const int fd = memfd_create("unit", MFD_CLOEXEC);
  assert_int_equal(ftruncate(fd, unit_bytes), 0);
  void *const space =
      mmap(nullptr, unit_bytes * units, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (space == MAP_FAILED)
    skip();
  auto *const base = static_cast<std::uint8_t *>(space);
  for (std::size_t i = 0; i < units; ++i)
    assert_true(mmap(base + i * unit_bytes, unit_bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
  std::vector<std::uint8_t> source = pattern(unit_bytes);
  std::vector<iovec> from(units, iovec{source.data(), unit_bytes});
  const iovec to{space, unit_bytes * units};
  assert_int_equal(pull_from(getpid(), {&to, 1}, from), 0);
  assert_memory_equal(base, source.data(), unit_bytes);
  munmap(space, unit_bytes * units);
  close(fd);
}

static void pull__of_unmapped_memory(void **) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto *const base = static_cast<std::uint8_t *>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(base + page, page);
  std::vector<std::uint8_t> into(2 * page);
  const iovec to{into.data(), 2 * page}, from{base, 2 * page};
  assert_int_equal(pull_from(getpid(), {&to, 1}, {&from, 1}), -EFAULT);
  munmap(base, page);
}

static void pull__from_another_process(void **) {
  Owner owner([] { return true; });
  std::vector<std::uint8_t> into(Owner::length);
  assert_int_equal(owner.pull(into), 0);
  assert_memory_equal(into.data(), pattern(Owner::length).data(), Owner::length);
  assert_true(owner.finish());
  assert_int_equal(owner.pull(into), -ESRCH);
}

static void pull__from_a_process_whose_port_is_closed(void **) {
  Pair pair;
  pair.opener.reset();
  await_event(*pair.acceptor, PathEventKind::peer_gone);
  std::uint8_t byte = 0;
  const iovec piece{&byte, 1};
  assert_int_equal(pair.acceptor->pull(pair.in, {&piece, 1}, {&piece, 1}), -ESRCH);
}

// Root may read everything, so both must be somebody else.
static void pull__forbidden_by_the_system(void **) {
  if (geteuid() != 0)
    skip();
  assert_true(succeeded(in_child([] {
    if (!become_nobody() || prctl(PR_SET_DUMPABLE, 1) != 0)
      return false;
    std::vector<std::uint8_t> into(1000);
    Owner open([] { return true; }), closed([] { return prctl(PR_SET_DUMPABLE, 0) == 0; });
    return open.pull(into) == 0 && closed.pull(into) == -EPERM && closed.pull(into) == -EPERM &&
           open.finish() && closed.finish();
  })));
}

static void pull__within_one_process(void **) {
  Pair pair;
  std::vector<std::uint8_t> from = pattern(5000), to(5000);
  const iovec source{from.data(), 5000}, target{to.data(), 5000};
  assert_int_equal(pair.acceptor->pull(pair.in, {&target, 1}, {&source, 1}), 0);
  assert_memory_equal(to.data(), from.data(), 5000);
}

// One thread writes a buffer and sends its address; another pulls it and says
// so: then the first writes it again. ThreadSanitizer must see the order.
static void pull__between_threads_is_ordered_by_datagrams(void **) {
  Pair pair;
  std::vector<std::uint8_t> buffer(64);
  int bad = 0;
  std::thread other([&] {
    for (int i = 0; i < 10000; ++i) {
      receive(*pair.acceptor);
      std::vector<std::uint8_t> into(64);
      const iovec to{into.data(), 64}, from{buffer.data(), 64};
      bad += pair.acceptor->pull(pair.in, {&to, 1}, {&from, 1}) != 0;
      bad += into != std::vector<std::uint8_t>(64, static_cast<std::uint8_t>(i));
      send(*pair.acceptor, pair.in, "done");
    }
  });
  for (int i = 0; i < 10000; ++i) {
    std::memset(buffer.data(), i, 64);
    send(*pair.opener, pair.out, "ready");
    receive(*pair.opener);
  }
  other.join();
  assert_int_equal(bad, 0);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(pull__any_cut_of_both_sides),
    cmocka_unit_test(pull__nothing_and_surplus),
    cmocka_unit_test(pull__more_than_two_gigabytes),
    cmocka_unit_test(pull__of_unmapped_memory),
    cmocka_unit_test(pull__from_another_process),
    cmocka_unit_test(pull__from_a_process_whose_port_is_closed),
    cmocka_unit_test(pull__forbidden_by_the_system),
    cmocka_unit_test(pull__within_one_process),
    cmocka_unit_test(pull__between_threads_is_ordered_by_datagrams),
};
static const unit::Group group{"link_host.pull", cases};

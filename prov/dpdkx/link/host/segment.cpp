// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/host/segment.h"

#include <bit>
#include <cerrno>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace dpdkx::link::host {

namespace {

constexpr int required_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::size_t file_bytes(std::uint32_t ring_bytes) {
  return page_bytes() + 2 * std::size_t{ring_bytes};
}
std::size_t mapped_bytes(std::uint32_t ring_bytes) {
  return page_bytes() + 4 * std::size_t{ring_bytes};
}

// A file on tmpfs: huge pages could run out under our feet, and other file
// systems can fail a read of a page.
bool trustworthy(int fd, std::uint32_t ring_bytes) {
  struct stat status;
  struct statfs system;
  return (fcntl(fd, F_GET_SEALS) & required_seals) == required_seals && fstat(fd, &status) == 0 &&
         fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC &&
         static_cast<std::size_t>(status.st_size) == file_bytes(ring_bytes);
}

Fd make_memfd() {
  const ForkHold hold;
  return {memfd_create("dpdkx-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING), hold};
}

// Where not, growing it would end the process: by a signal (SIGXFSZ).
bool file_may_have(std::size_t bytes) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur;
}

bool map_fixed(std::byte *where, std::size_t bytes, int fd, std::size_t offset) {
  return mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
              static_cast<off_t>(offset)) != MAP_FAILED;
}

} // namespace

std::uint32_t page_bytes() {
  static const auto bytes = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

const char *ring_size_fault(std::uint32_t ring_bytes) {
  if (!std::has_single_bit(ring_bytes))
    return "not a power of two";
  if (ring_bytes < 2 * page_bytes())
    return "less than two memory pages";
  if (ring_bytes > max_ring_bytes)
    return "more than 1 GiB";
  return nullptr;
}

Segment::~Segment() {
  // A child's copy was left out of its address space by fork().
  if (base_ != nullptr && generation_ == fork_generation.load(std::memory_order_relaxed))
    munmap(base_, mapped_bytes(ring_bytes_));
}

void Segment::swap(Segment &other) {
  std::swap(base_, other.base_);
  std::swap(ring_bytes_, other.ring_bytes_);
  std::swap(generation_, other.generation_);
  std::swap(inode_, other.inode_);
}

int Segment::create(std::uint32_t ring_bytes, Segment &segment, Fd &memfd) {
  if (!file_may_have(file_bytes(ring_bytes)))
    return -EFBIG;
  memfd = make_memfd();
  if (!memfd)
    return memfd.error();
  if (ftruncate(memfd.get(), static_cast<off_t>(file_bytes(ring_bytes))) != 0 ||
      fcntl(memfd.get(), F_ADD_SEALS, required_seals) != 0)
    return -errno;
  return segment.map(memfd, ring_bytes);
}

int Segment::attach(const Fd &memfd, std::uint32_t ring_bytes, Segment &segment) {
  if (ring_size_fault(ring_bytes) != nullptr || !trustworthy(memfd.get(), ring_bytes))
    return -EPROTO;
  return segment.map(memfd, ring_bytes);
}

int Segment::map(const Fd &memfd, std::uint32_t ring_bytes) {
  const std::size_t bytes = mapped_bytes(ring_bytes);
  const ForkHold hold; // a fork in between would leave the child a mapping
  void *const base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    return -errno;
  base_ = static_cast<std::byte *>(base);
  ring_bytes_ = ring_bytes;
  generation_ = fork_generation.load(std::memory_order_relaxed);

  const int fd = memfd.get();
  const std::size_t page = page_bytes();
  std::byte *const rings = base_ + page;
  const std::size_t ring = ring_bytes;
  struct stat status;
  if (!map_fixed(base_, page, fd, 0) || !map_fixed(rings, ring, fd, page) ||
      !map_fixed(rings + ring, ring, fd, page) ||
      !map_fixed(rings + 2 * ring, ring, fd, page + ring) ||
      !map_fixed(rings + 3 * ring, ring, fd, page + ring) ||
      madvise(base_, bytes, MADV_DONTFORK) != 0 || fstat(fd, &status) != 0)
    return -errno; // what is mapped goes with the Segment
  inode_ = status.st_ino;
  return 0;
}

std::byte *Segment::ring_bytes_of(End receiver) const {
  return base_ + page_bytes() + static_cast<std::size_t>(receiver) * 2 * ring_bytes_;
}

ConsumerWords &Segment::consumer_words(End receiver) const {
  return reinterpret_cast<Control *>(base_)->consumer[static_cast<std::size_t>(receiver)];
}

RingMemory Segment::ring(End receiver) const {
  ConsumerWords &words = consumer_words(receiver);
  return {ring_bytes_of(receiver), ring_bytes_, &words.head, &words.told,
          inode_ * 2 + static_cast<std::uint64_t>(receiver)};
}

void Segment::drop_pages(End receiver) const {
  madvise(ring_bytes_of(receiver), ring_bytes_, MADV_REMOVE);
}

} // namespace dpdkx::link::host

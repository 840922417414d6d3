// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "functional/persistent_scene.h"

#include "common/check.h"
#include "common/settings.h"

#include <algorithm>
#include <cstring>

#include <rdma/fi_errno.h>

namespace fabtest {

namespace {

int allgather(void *context, const void *mine, std::size_t size, void *all) {
  team &t = *static_cast<team *>(context);
  auto *to = static_cast<std::byte *>(all);
  for (const bytes &part : t.allgather({static_cast<const std::byte *>(mine), size})) {
    if (part.size() != size)
      return -FI_EIO; // of a rank that is gone, or gives something else
    std::memcpy(to, part.data(), size);
    to += size;
  }
  return 0;
}

bool reduces(collc_rt_kind k) { return k == COLLC_RT_REDUCE || k == COLLC_RT_ALLREDUCE; }

bytes slice(const bytes &of, std::size_t index, std::size_t size) {
  const auto from = of.begin() + static_cast<std::ptrdiff_t>(index * size);
  return {from, from + static_cast<std::ptrdiff_t>(size)};
}

} // namespace

void check_collc(std::string_view call, int rc, where at) {
  if (rc != 0)
    fail(fmt::format("{} returned {}: {}", call, describe(rc), collc_rt_error()), at);
}

collc_rt_exchange exchange_of(team &t) { return {allgather, &t}; }

collc_rt_settings settings_for(collc_rt_mode mode) {
  collc_rt_settings s{};
  s.size = sizeof s;
  s.mode = mode;
  if (!config().provider.empty())
    s.provider = config().provider.c_str();
  if (!config().node.empty())
    s.node = config().node.c_str();
  return s;
}

persistent_group::persistent_group(team &t, const collc_rt_settings &settings) : team_(t) {
  const collc_rt_exchange how = exchange_of(t);
  collc_rt_group *g = nullptr;
  const int rc = collc_rt_group_create(t.size(), t.rank(), &how, &settings, &g);
  if (settings.mode == COLLC_RT_OFFLOAD &&
      (rc == -FI_ENODATA || rc == -FI_ENOSYS || rc == -FI_ECONNABORTED))
    skip(fmt::format("no offload here: {}", collc_rt_error()));
  check_collc("collc_rt_group_create", rc);
  group_.reset(g);
}

collc_rt_group_info persistent_group::query() const {
  collc_rt_group_info i{};
  i.size = sizeof i;
  COLLC_OK(collc_rt_group_query(get(), &i));
  return i;
}

void persistent_group::check_leave(int rc) { check_collc("collc_rt_group_destroy", rc); }

std::size_t persistent_request::given_size(bool by_root) const {
  const auto ranks = static_cast<std::size_t>(team_.size());
  switch (form_.kind) {
  case COLLC_RT_BARRIER:
    return 0;
  case COLLC_RT_ALLTOALL:
    return ranks * form_.bytes;
  case COLLC_RT_SCATTER:
    return by_root ? ranks * form_.bytes : 0;
  case COLLC_RT_BROADCAST:
    return by_root ? form_.bytes : 0;
  default:
    return form_.bytes;
  }
}

std::size_t persistent_request::expected_size() const {
  const auto ranks = static_cast<std::size_t>(team_.size());
  switch (form_.kind) {
  case COLLC_RT_BARRIER:
    return 0;
  case COLLC_RT_ALLGATHER:
  case COLLC_RT_ALLTOALL:
    return ranks * form_.bytes;
  case COLLC_RT_GATHER:
    return root() ? ranks * form_.bytes : 0;
  case COLLC_RT_REDUCE:
    return root() ? form_.bytes : 0;
  default:
    return form_.bytes;
  }
}

bytes persistent_request::given(int rank) const {
  const std::uint64_t who = epoch_ * 64 + static_cast<std::uint64_t>(rank);
  bytes b(given_size(rank == form_.root));
  if (!reduces(form_.kind)) {
    fill(b, who);
    return b;
  }
  for (std::size_t i = 0; i < b.size(); i += sizeof(std::int64_t)) {
    const auto value = static_cast<std::int64_t>(who * 7 + i) - 1000;
    std::memcpy(b.data() + i, &value, sizeof value);
  }
  return b;
}

bytes persistent_request::combined() const {
  bytes all = given(0);
  for (int r = 1; r < team_.size(); ++r) {
    const bytes more = given(r);
    for (std::size_t i = 0; i < all.size(); i += sizeof(std::int64_t)) {
      std::int64_t a = 0, b = 0;
      std::memcpy(&a, all.data() + i, sizeof a);
      std::memcpy(&b, more.data() + i, sizeof b);
      a = form_.operation == "max" ? std::max(a, b) : a + b;
      std::memcpy(all.data() + i, &a, sizeof a);
    }
  }
  return all;
}

bytes persistent_request::expected() const {
  const auto rank = static_cast<std::size_t>(team_.rank());
  bytes all;
  const auto append = [&](const bytes &b) { all.insert(all.end(), b.begin(), b.end()); };
  switch (form_.kind) {
  case COLLC_RT_BROADCAST:
    return given(static_cast<int>(form_.root));
  case COLLC_RT_SCATTER:
    return slice(given(static_cast<int>(form_.root)), rank, form_.bytes);
  case COLLC_RT_REDUCE:
    return root() ? combined() : bytes{};
  case COLLC_RT_ALLREDUCE:
    return combined();
  case COLLC_RT_GATHER:
    if (!root())
      return {};
    [[fallthrough]];
  case COLLC_RT_ALLGATHER:
    for (int r = 0; r < team_.size(); ++r)
      append(given(r));
    return all;
  case COLLC_RT_ALLTOALL:
    for (int r = 0; r < team_.size(); ++r)
      append(slice(given(r), rank, form_.bytes));
    return all;
  default:
    return all;
  }
}

// MPI_IN_PLACE, for each collective. Of a broadcast there is but one buffer, and a scatter's in is
// the greater one.
std::byte *persistent_request::in() {
  if (form_.kind == COLLC_RT_BROADCAST)
    return out_.data();
  if (!form_.in_place || form_.kind == COLLC_RT_SCATTER || out_.empty())
    return in_.data();
  const bool own_block = form_.kind == COLLC_RT_GATHER || form_.kind == COLLC_RT_ALLGATHER;
  return out_.data() + (own_block ? static_cast<std::size_t>(team_.rank()) * form_.bytes : 0);
}

persistent_request::persistent_request(const persistent_group &g, const form &f)
    : form_(f), team_(g.of()), in_(given_size(root())), out_(expected_size()) {
  collc_rt_collective c{};
  c.size = sizeof c;
  c.kind = f.kind;
  c.bytes = f.bytes;
  c.root = f.root;
  c.in = f.kind == COLLC_RT_BROADCAST ? nullptr : in();
  c.out = out_.data();
  if (f.in_place && f.kind == COLLC_RT_SCATTER && root())
    c.out = in_.data() + static_cast<std::size_t>(f.root) * f.bytes;
  c.operation = f.operation.c_str();
  c.type = "int64";
  c.algorithm = f.algorithm.empty() ? nullptr : f.algorithm.c_str();
  c.flags = f.direct ? COLLC_RT_DIRECT : 0;
  COLLC_OK(collc_rt_init(g.get(), &c, &request_));
}

persistent_request::~persistent_request() {
  if (request_ != nullptr && collc_rt_free(request_) != 0)
    fail_later(fmt::format("collc_rt_free: {}", collc_rt_error()));
}

void persistent_request::free() { COLLC_OK(collc_rt_free(std::exchange(request_, nullptr))); }

void persistent_request::start() {
  ++epoch_;
  if (!form_.in_place)
    std::ranges::fill(out_, std::byte{0xee});
  const bytes mine = given(team_.rank());
  if (!mine.empty())
    std::memcpy(in(), mine.data(), mine.size());
  COLLC_OK(collc_rt_start(request_));
}

void persistent_request::wait() { COLLC_OK(collc_rt_wait(request_, -1)); }

void persistent_request::verify() const {
  const bytes right = expected();
  const bool scattered_in_place = form_.in_place && form_.kind == COLLC_RT_SCATTER && root();
  const bytes found =
      scattered_in_place ? slice(in_, static_cast<std::size_t>(form_.root), form_.bytes) : out_;
  if (right == found)
    return;
  const auto at = std::ranges::mismatch(right, found).in1 - right.begin();
  fail(fmt::format("{} {} of {} bytes, root {}, epoch {}: byte {} of {} is wrong",
                   static_cast<int>(form_.kind), form_.algorithm, form_.bytes, form_.root, epoch_,
                   at, right.size()));
}

} // namespace fabtest

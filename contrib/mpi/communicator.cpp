// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "mpi/communicator.h"

#include "mpi/error.h"
#include "mpi/progress.h"
#include "mpi/settings.h"

#include "collc/collc_runtime.h"

#include <algorithm>
#include <array>
#include <climits>
#include <random>

#include <rdma/fi_errno.h>

namespace coll {

namespace {

std::mutex registry_mutex;
std::vector<std::shared_ptr<communicator>> registry;
int keyval = MPI_KEYVAL_INVALID;

// The program's communicator is gone, or freed in a way that this library doesn't see: what belongs
// to it stays until the end.
int attribute_deleted(MPI_Comm, int, void *, void *) { return MPI_SUCCESS; }

int the_keyval() {
  const std::lock_guard lock(registry_mutex);
  if (keyval == MPI_KEYVAL_INVALID)
    check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, attribute_deleted, &keyval, nullptr));
  return keyval;
}

int known_keyval() {
  const std::lock_guard lock(registry_mutex);
  return keyval;
}

// Waits for a request of the MPI's while the runtime goes on, which others may need to come here.
void finish(MPI_Request &pending) {
  idle_turns idle;
  int flag = 0;
  for (;;) {
    check(PMPI_Test(&pending, &flag, MPI_STATUS_IGNORE));
    if (flag != 0)
      return;
    runtime_was_driven();
    collc_rt_progress(nullptr);
    idle.pass();
  }
}

void least(MPI_Comm comm, const std::int64_t *mine, std::span<std::int64_t> all) {
  MPI_Request pending = MPI_REQUEST_NULL;
  check(PMPI_Iallreduce(mine, all.data(), static_cast<int>(all.size()), MPI_INT64_T, MPI_MIN, comm,
                        &pending));
  finish(pending);
}

int exchange(void *context, const void *mine, std::size_t bytes, void *all) {
  const communicator &c = *static_cast<const communicator *>(context);
  if (bytes > INT_MAX)
    return -FI_EMSGSIZE;
  const int n = static_cast<int>(bytes);
  MPI_Request pending = MPI_REQUEST_NULL;
  try {
    check(PMPI_Iallgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, c.own(), &pending));
    finish(pending);
  } catch (const mpi_error &) {
    return -FI_EIO;
  }
  return 0;
}

collc_rt_mode runtime_mode() {
  switch (settled_mode()) {
  case mode::offload:
    return COLLC_RT_OFFLOAD;
  case mode::function:
    return COLLC_RT_FUNCTION;
  default:
    return COLLC_RT_AUTO;
  }
}

// Random enough that no two communicators have the same.
std::int64_t new_id() {
  std::random_device source;
  const std::uint64_t high = source(), low = source();
  return static_cast<std::int64_t>((high << 32 | low) >> 2);
}

} // namespace

std::shared_ptr<communicator> communicator::of(MPI_Comm comm) {
  if (auto known = find(comm))
    return known;
  int inter = 0;
  check(PMPI_Comm_test_inter(comm, &inter));
  auto c = std::make_shared<communicator>(comm, inter != 0);
  check(PMPI_Comm_set_attr(comm, the_keyval(), c.get()));
  const std::lock_guard lock(registry_mutex);
  registry.push_back(c);
  return c;
}

std::shared_ptr<communicator> communicator::find(MPI_Comm comm) {
  const int key = known_keyval();
  if (key == MPI_KEYVAL_INVALID)
    return nullptr;
  void *value = nullptr;
  int flag = 0;
  check(PMPI_Comm_get_attr(comm, key, static_cast<void *>(&value), &flag));
  return flag != 0 ? static_cast<communicator *>(value)->shared_from_this() : nullptr;
}

std::vector<std::shared_ptr<communicator>> communicator::all() {
  const std::lock_guard lock(registry_mutex);
  auto found = registry;
  std::sort(found.begin(), found.end(),
            [](const auto &a, const auto &b) { return a->id_ < b->id_; });
  return found;
}

communicator::communicator(MPI_Comm comm, bool inter) : program_(comm), inter_(inter) {
  check(PMPI_Comm_rank(comm, &rank_));
  check(PMPI_Comm_size(comm, &ranks_));
  own_ = make_comm(comm);
  std::int64_t id = new_id();
  agree({&id, 1});
  id_ = id;
}

communicator::~communicator() = default;

// Not a duplicate: that would have the program's attributes, and call their functions.
MPI_Comm communicator::make_comm(MPI_Comm from) const {
  MPI_Group group = MPI_GROUP_NULL;
  check(PMPI_Comm_group(from, &group));
  MPI_Comm comm = MPI_COMM_NULL;
  const int code = PMPI_Comm_create(from, group, &comm);
  PMPI_Group_free(&group);
  check(code);
  check(PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  return comm;
}

MPI_Comm communicator::for_errors() const {
  const std::lock_guard lock(mutex_);
  return program_ != MPI_COMM_NULL ? program_ : own_;
}

void communicator::agree(std::span<std::int64_t> values) {
  std::vector<std::int64_t> all(values.size());
  least(own_, values.data(), all);
  if (inter_) {
    // Those are of the other group; the second time brings back our own's.
    std::vector<std::int64_t> ours(values.size());
    least(own_, all.data(), ours);
    std::transform(all.begin(), all.end(), ours.begin(), all.begin(),
                   [](auto a, auto b) { return std::min(a, b); });
  }
  std::copy(all.begin(), all.end(), values.begin());
}

collc_rt_group *communicator::group() {
  if (group_tried_)
    return group_;
  group_tried_ = true;
  const collc_rt_exchange how{exchange, this};
  collc_rt_settings settings{};
  settings.size = sizeof settings;
  settings.mode = runtime_mode();
  settings.automatic = automatic_progress() ? 1 : 0;
  if (collc_rt_group_create(ranks_, rank_, &how, &settings, &group_) == 0)
    begin_background();
  else
    why_no_group_ = collc_rt_error();
  return group_;
}

int communicator::lease() {
  std::vector<std::int64_t> idle;
  {
    const std::lock_guard lock(mutex_);
    for (const lane_of_request &lane : lanes_)
      idle.push_back(lane.leased ? 0 : 1);
  }
  if (!idle.empty())
    agree(idle);
  const auto first = std::find(idle.begin(), idle.end(), 1);
  const auto index = static_cast<std::size_t>(first - idle.begin());
  const MPI_Comm made = first == idle.end() ? make_comm(own_) : MPI_COMM_NULL;
  const std::lock_guard lock(mutex_);
  if (made != MPI_COMM_NULL)
    lanes_.push_back({made, true});
  lanes_[index].leased = true;
  return static_cast<int>(index);
}

MPI_Comm communicator::lane(int index) const {
  const std::lock_guard lock(mutex_);
  return lanes_[static_cast<std::size_t>(index)].comm;
}

void communicator::give_back(int index) {
  const std::lock_guard lock(mutex_);
  lanes_[static_cast<std::size_t>(index)].leased = false;
}

void communicator::program_frees() {
  const MPI_Comm program = for_errors();
  // The least of 1 where there is none, 0 where there is one.
  std::int64_t without = requests_ == 0 ? 1 : 0;
  agree({&without, 1});
  if (without != 0) {
    destroy();
    forget();
  } else {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    check(PMPI_Comm_get_errhandler(program, &handler));
    PMPI_Comm_set_errhandler(own_, handler);
    PMPI_Errhandler_free(&handler);
    const std::lock_guard lock(mutex_);
    program_ = MPI_COMM_NULL;
  }
  check(PMPI_Comm_delete_attr(program, the_keyval()));
}

void communicator::end() {
  std::int64_t idle = requests_ == 0 ? 1 : 0;
  agree({&idle, 1});
  destroy();
  forget();
}

void communicator::destroy() {
  if (group_ != nullptr) {
    collc_rt_group_destroy(group_, 0); // -FI_EBUSY: what is active then stays with the process
    group_ = nullptr;
    end_background();
  }
  for (lane_of_request &lane : lanes_)
    PMPI_Comm_free(&lane.comm);
  lanes_.clear();
  PMPI_Comm_free(&own_);
}

void communicator::forget() {
  const std::lock_guard lock(registry_mutex);
  std::erase_if(registry, [this](const auto &c) { return c.get() == this; });
}

} // namespace coll

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "mpi/table.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace coll {

namespace {

std::shared_mutex mutex;
std::unordered_map<MPI_Request, std::shared_ptr<request>> requests;
std::atomic<bool> any{false};
// Of the table: how often it has changed. A thread's last answer holds while it hasn't.
std::atomic<std::uint64_t> changes{0};

struct answer {
  MPI_Request handle{};
  request *what = nullptr;
  std::uint64_t changes = 0;
};
thread_local answer last;

// The caller has the table for itself.
void changed() {
  any.store(!requests.empty(), std::memory_order_relaxed);
  changes.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<request> look_up(MPI_Request handle) {
  const auto found = requests.find(handle);
  return found != requests.end() ? found->second : nullptr;
}

} // namespace

void enter(MPI_Request handle, std::shared_ptr<request> r) {
  const std::lock_guard lock(mutex);
  requests[handle] = std::move(r);
  changed();
}

request *known(MPI_Request handle) {
  if (!any.load(std::memory_order_relaxed))
    return nullptr;
  if (last.what != nullptr && last.handle == handle &&
      last.changes == changes.load(std::memory_order_acquire))
    return last.what;
  const std::shared_lock lock(mutex);
  last = {handle, look_up(handle).get(), changes.load(std::memory_order_relaxed)};
  return last.what;
}

std::vector<std::shared_ptr<request>> known(std::span<const MPI_Request> handles) {
  std::vector<std::shared_ptr<request>> all;
  if (!any.load(std::memory_order_relaxed))
    return all;
  const std::shared_lock lock(mutex);
  if (std::none_of(handles.begin(), handles.end(),
                   [](MPI_Request h) { return requests.contains(h); }))
    return all;
  all.reserve(handles.size());
  for (const MPI_Request handle : handles)
    all.push_back(look_up(handle));
  return all;
}

std::shared_ptr<request> forget(MPI_Request handle) {
  const std::lock_guard lock(mutex);
  auto node = requests.extract(handle);
  changed();
  return node ? std::move(node.mapped()) : nullptr;
}

std::vector<entry> forget_all() {
  const std::lock_guard lock(mutex);
  std::vector<entry> all;
  all.reserve(requests.size());
  for (auto &[handle, what] : requests)
    all.push_back({handle, std::move(what)});
  requests.clear();
  changed();
  return all;
}

} // namespace coll

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "mpi/mixed.h"

#include "mpi/error.h"
#include "mpi/progress.h"
#include "mpi/table.h"

#include <algorithm>

namespace coll {

namespace {

// What the MPI itself says of MPI_REQUEST_NULL.
MPI_Status empty_status() {
  MPI_Status status{};
  MPI_Request null = MPI_REQUEST_NULL;
  int flag = 0;
  PMPI_Test(&null, &flag, &status);
  return status;
}

MPI_Status *at(MPI_Status *statuses, int index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + index;
}

} // namespace

void set_empty(MPI_Status *status) {
  if (status != MPI_STATUS_IGNORE)
    set_empty(status, status->MPI_ERROR);
}

void set_empty(MPI_Status *status, int code) {
  static const MPI_Status empty = empty_status();
  if (status == MPI_STATUS_IGNORE)
    return;
  *status = empty;
  status->MPI_ERROR = code;
}

mixed::mixed(int count, MPI_Request handles[])
    : handles_(handles, static_cast<std::size_t>(std::max(count, 0))), known_(known(handles_)) {
  for (std::size_t i = 0; i < known_.size(); i++) {
    const int index = static_cast<int>(i);
    if (!known_[i]) {
      theirs_.push_back(handles[i]);
      their_indices_.push_back(index);
    } else if (!known_[i]->inactive()) {
      ours_.push_back({index, known_[i]});
    }
  }
}

void mixed::put_back() {
  for (std::size_t i = 0; i < theirs_.size(); i++)
    handles_[static_cast<std::size_t>(their_indices_[i])] = theirs_[i];
}

int mixed::test_all(int *flag, MPI_Status statuses[]) {
  *flag = 0;
  // All or none: as long as one of ours is active, the MPI's stay as they are.
  bool all = true;
  for (const of_ours &o : ours_)
    all = o.what->done() && all;
  if (!all)
    return MPI_SUCCESS;
  const bool wanted = statuses != MPI_STATUSES_IGNORE;
  std::vector<MPI_Status> their_statuses(wanted ? theirs_.size() : 0);
  int their_code = MPI_SUCCESS;
  *flag = 1;
  if (!theirs_.empty())
    their_code = PMPI_Testall(static_cast<int>(theirs_.size()), theirs_.data(), flag,
                              wanted ? their_statuses.data() : MPI_STATUSES_IGNORE);
  put_back();
  if (their_code != MPI_SUCCESS && their_code != MPI_ERR_IN_STATUS)
    return their_code;
  if (*flag == 0 && their_code == MPI_SUCCESS)
    return MPI_SUCCESS;
  *flag = 1;

  int failed = MPI_SUCCESS; // of ours
  std::vector<int> codes(known_.size(), MPI_SUCCESS);
  const request *first = nullptr;
  for (const of_ours &o : ours_) {
    const int code = o.what->settle();
    codes[static_cast<std::size_t>(o.index)] = code;
    if (code != MPI_SUCCESS && first == nullptr) {
      failed = code;
      first = o.what.get();
    }
  }
  const bool in_status = failed != MPI_SUCCESS || their_code != MPI_SUCCESS;
  if (wanted) {
    for (std::size_t i = 0; i < known_.size(); i++)
      if (known_[i] && in_status)
        set_empty(&statuses[i], codes[i]);
      else if (known_[i])
        set_empty(&statuses[i]);
    for (std::size_t i = 0; i < theirs_.size(); i++) {
      MPI_Status &to = statuses[their_indices_[i]];
      const int before = to.MPI_ERROR;
      to = their_statuses[i];
      if (their_code == MPI_SUCCESS)
        to.MPI_ERROR = in_status ? MPI_SUCCESS : before;
    }
  }
  if (first != nullptr)
    first->raise(failed);
  return in_status ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

int mixed::test_any(int *index, int *flag, MPI_Status *status) {
  *flag = 1;
  *index = MPI_UNDEFINED;
  for (const of_ours &o : ours_) {
    if (!o.what->done())
      continue;
    *index = o.index;
    set_empty(status);
    const int code = o.what->settle();
    return code == MPI_SUCCESS ? code : o.what->raise(code);
  }
  int their_index = MPI_UNDEFINED, their_flag = 1;
  if (!theirs_.empty()) {
    const int code = PMPI_Testany(static_cast<int>(theirs_.size()), theirs_.data(), &their_index,
                                  &their_flag, status);
    put_back();
    if (their_index != MPI_UNDEFINED && their_index >= 0)
      *index = their_indices_[static_cast<std::size_t>(their_index)];
    if (code != MPI_SUCCESS)
      return code;
  }
  if (their_flag != 0 && their_index != MPI_UNDEFINED)
    return MPI_SUCCESS;
  *index = MPI_UNDEFINED;
  // Nothing at all is active, or nothing has come yet.
  *flag = ours_.empty() && their_flag != 0 ? 1 : 0;
  if (*flag != 0)
    set_empty(status);
  return MPI_SUCCESS;
}

int mixed::some_of_ours(int *count, int indices[], MPI_Status statuses[]) {
  const request *first = nullptr;
  int failed = MPI_SUCCESS;
  for (const of_ours &o : ours_) {
    if (!o.what->done())
      continue;
    const int code = o.what->settle();
    if (code != MPI_SUCCESS && first == nullptr) {
      first = o.what.get();
      failed = code;
    }
    indices[*count] = o.index;
    set_empty(at(statuses, *count), code);
    ++*count;
  }
  if (first != nullptr)
    first->raise(failed);
  return failed;
}

int mixed::test_some(int *count, int indices[], MPI_Status statuses[]) {
  *count = 0;
  const bool wanted = statuses != MPI_STATUSES_IGNORE;
  std::vector<int> before; // the statuses' errors, which stay without one
  if (wanted)
    for (std::size_t i = 0; i < handles_.size(); i++)
      before.push_back(statuses[i].MPI_ERROR);

  const int our_code = some_of_ours(count, indices, statuses);
  const int ours = *count;
  int their_count = MPI_UNDEFINED, their_code = MPI_SUCCESS;
  if (!theirs_.empty()) {
    their_code = PMPI_Testsome(static_cast<int>(theirs_.size()), theirs_.data(), &their_count,
                               indices + ours, wanted ? statuses + ours : statuses);
    put_back();
    if (their_code != MPI_SUCCESS && their_code != MPI_ERR_IN_STATUS)
      return their_code;
  }
  if (their_count != MPI_UNDEFINED) {
    for (int i = ours; i < ours + their_count; i++)
      indices[i] = their_indices_[static_cast<std::size_t>(indices[i])];
    *count += their_count;
  } else if (ours_.empty()) {
    *count = MPI_UNDEFINED; // nothing at all is active
    return MPI_SUCCESS;
  }
  const bool in_status = our_code != MPI_SUCCESS || their_code != MPI_SUCCESS;
  for (int i = 0; wanted && i < *count; i++)
    if (!in_status)
      statuses[i].MPI_ERROR = before[static_cast<std::size_t>(i)];
    else if (i >= ours && their_code == MPI_SUCCESS)
      statuses[i].MPI_ERROR = MPI_SUCCESS;
  return in_status ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

void mixed::drive() {
  for (const of_ours &o : ours_)
    if (o.what->of()) {
      drive_mpi(*o.what->of());
      return;
    }
}

} // namespace coll

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Reading another process's memory.
#pragma once

#include <span>
#include <sys/types.h>
#include <sys/uio.h>

namespace dpdkx::link::host {

// Fills `local` from `remote`, which must not be shorter, in process `pid`. 0;
// -EPERM: the system doesn't allow or know it; -EFAULT: something of it isn't
// mapped; -ESRCH: no such process. After an error, parts may have been filled.
int pull_from(pid_t pid, std::span<const iovec> local, std::span<const iovec> remote);

// The same within this process.
int pull_here(std::span<const iovec> local, std::span<const iovec> remote);

} // namespace dpdkx::link::host

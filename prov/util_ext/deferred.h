// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Deferred work as applications ask for it: fi_trigger(3).
#pragma once

#include "util_ext/trigger.h"

struct fid_cntr;

namespace util_ext {

class Domain;

// For a domain's control(): FI_QUEUE_WORK and FI_CANCEL_WORK with an fi_deferred_work,
// FI_FLUSH_WORK with null (all of the domain's) or an fid_cntr (those that it triggers). 0,
// -FI_EINVAL, -FI_ENOSYS, -FI_ENOSPC (Triggers::limit), -FI_ENOENT (nothing to cancel), -FI_ENOMEM,
// or what the provider's make_work() says.
int control_work(Domain &, int command, void *arg) noexcept;

// Queues it, and fires what is ready. 0, or -FI_ENOSPC, with a log line.
int queue_work(Domain &, const Triggers::Order &, std::unique_ptr<Work>);

// The counter, if it is one of that domain, or null.
Cntr *counter_of(const Domain &, fid_cntr *);

} // namespace util_ext

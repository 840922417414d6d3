// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/eal.h"

#include "dpdkx/base/cpus.h"
#include "dpdkx/base/thread.h"
#include "dpdkx/link/ethdev/quiet.h"
#include "dpdkx/net/text.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <pthread.h>
#include <rte_alarm.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <semaphore>
#include <unistd.h>
#include <vector>

namespace dpdkx::link {

std::atomic<bool> eal_forked{false};

namespace {

// Guarded by the module's mutex.
bool started_ = false;
int failure_ = 0;
std::string failure_text_;

bool wants_huge_pages(const DeviceOptions &options, const net::DeviceSpec &spec) {
  return options.huge_pages == HugePages::always ||
         (options.huge_pages == HugePages::where_needed && spec.kind == net::DeviceKind::pci);
}

std::vector<std::string> eal_arguments(const DeviceOptions &options, const net::DeviceSpec &spec,
                                       const std::string &prefix) {
  std::vector<std::string> args = {
      // The name that syslog uses anyway.
      program_invocation_name,
      "--no-telemetry",
      "--file-prefix=" + prefix,
      // One DPDK thread of execution, free to run where the application may.
      "--lcores=0@(" + allowed_cpus() + ")",
      // A list of allowed PCI devices keeps DPDK from probing, and so taking, all there are;
      // a host bridge has no driver.
      "--allow=" + (spec.kind == net::DeviceKind::pci ? spec.bus_name : "0000:00:00.0"),
  };
  if (wants_huge_pages(options, spec)) {
    args.push_back("--in-memory"); // leaves no files
  } else {
    // Nothing here needs huge pages. And --in-memory would reserve 130 GB of
    // address space, which core dumps and limits on it don't like.
    args.insert(args.end(), {"--no-huge", "--no-shconf"});
  }
  auto memory = options.memory_mb ? options.memory_mb : wants_huge_pages(options, spec) ? 0 : 256;
  if (memory != 0)
    args.push_back("-m" + std::to_string(memory));
  for (std::string_view rest = options.eal_args; !rest.empty();)
    if (auto word = net::next_word(rest); !word.empty())
      args.emplace_back(word);
  return args;
}

// DPDK pins the thread that starts it, and its own threads inherit that thread's
// signal mask: so a thread of our own starts it, which no signal can reach. Data
// path calls come from threads that DPDK doesn't know, which it allows.
int init_in_own_thread(const std::vector<std::string> &args, std::string &said) {
  int result = 0;
  std::thread starter;
  const auto start = [&] {
    Quiet quiet;
    quiet.take_dpdk_log();
    std::vector<char *> argv;
    argv.reserve(args.size() + 1);
    for (const auto &arg : args)
      argv.push_back(const_cast<char *>(arg.c_str()));
    argv.push_back(nullptr);
    const int taken = rte_eal_init(static_cast<int>(args.size()), argv.data());
    said = quiet.first_error();
    if (taken < 0) {
      result = rte_errno ? -rte_errno : -EINVAL;
    } else if (static_cast<std::size_t>(taken) + 1 < args.size()) { // no options: DPDK leaves them
      result = -EINVAL;
      said = "'" + std::string(argv[static_cast<std::size_t>(taken) + 1]) + "' is no option";
    }
  };
  if (const int rc = start_thread(starter, start, said))
    return rc;
  starter.join();
  return result;
}

// DPDK makes its folder even when nothing is to be kept there.
void remove_runtime_folder(const std::string &prefix) {
  std::string folder = rte_eal_get_runtime_dir();
  std::error_code ignored;
  if (folder.ends_with("/" + prefix) && std::filesystem::remove(folder, ignored))
    std::filesystem::remove(folder.substr(0, folder.rfind('/')), ignored); // if empty
}

std::string explain(int rc, const DeviceOptions &options, const net::DeviceSpec &spec,
                    const std::string &said) {
  std::string text = "FI_DPDKX_DEVICE: '" + spec.text + "': DPDK can't be started: " + said + " (" +
                     std::strerror(-rc) + ")";
  if (!options.eal_args.empty())
    text += "; FI_DPDKX_EAL_ARGS is '" + options.eal_args + "'; allowed: DPDK's EAL options";
  return text;
}

// Looked at beforehand, as DPDK can't be started again after it has failed.
bool huge_pages_are_free() {
  std::error_code ignored;
  for (const auto &size :
       std::filesystem::directory_iterator("/sys/kernel/mm/hugepages", ignored)) {
    unsigned long free = 0;
    if (std::ifstream(size.path() / "free_hugepages") >> free && free > 0)
      return true;
  }
  return false;
}

int check_huge_pages(const DeviceOptions &options, const net::DeviceSpec &spec,
                     std::string &error) {
  if (!wants_huge_pages(options, spec) || huge_pages_are_free())
    return 0;
  error =
      "FI_DPDKX_DEVICE: '" + spec.text + "': no huge pages, which " +
      (spec.kind == net::DeviceKind::pci ? "a PCI device needs" : "FI_DPDKX_HUGE_PAGES asks for") +
      "; allowed: some free ones (echo 512 > /proc/sys/vm/nr_hugepages)";
  return -ENOMEM;
}

} // namespace

int start_eal(const DeviceOptions &options, const net::DeviceSpec &spec, std::string &error) {
  if (started_)
    return 0;
  if (failure_ != 0) { // DPDK doesn't allow a second attempt
    error = failure_text_;
    return failure_;
  }
  if (rte_lcore_count() > 0) { // the application has started it
    started_ = true;
    return 0;
  }
  if (int rc = check_huge_pages(options, spec, error))
    return rc;
  auto prefix = "dpdkx-" + std::to_string(getpid());
  std::string said;
  failure_ = init_in_own_thread(eal_arguments(options, spec, prefix), said);
  remove_runtime_folder(prefix);
  if (failure_ != 0) {
    error = failure_text_ = explain(failure_, options, spec, said);
    return failure_;
  }
  started_ = true;
  pthread_atfork(nullptr, nullptr, [] { eal_forked.store(true, std::memory_order_relaxed); });
  return 0;
}

void on_interrupt_thread(const std::function<void()> &call) {
  struct Task {
    const std::function<void()> &call;
    std::binary_semaphore done{0};
  } task{call};
  auto run = [](void *arg) {
    auto *self = static_cast<Task *>(arg);
    self->call();
    self->done.release();
  };
  if (rte_eal_alarm_set(1, run, &task) == 0)
    task.done.acquire();
  else
    call();
}

bool eal_has_huge_pages() { return rte_eal_has_hugepages() != 0; }

} // namespace dpdkx::link

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Whatever is set wrongly is told: dpdkx answers nothing, and one line of the log, at level warn,
// has the variable, its value, and what is allowed.
#include "common/settings.h"
#include "common/case.h"
#include "common/endpoint.h"
#include "common/log_lines.h"
#include "common/process_state.h"

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace fabtest {

namespace {

class environment {
public:
  environment(std::initializer_list<std::pair<const char *, const char *>> values) {
    for (const auto &[name, value] : values) {
      setenv(name, value, 1);
      names_.emplace_back(name);
    }
  }
  environment(const environment &) = delete;
  environment &operator=(const environment &) = delete;
  ~environment() {
    for (const auto &name : names_)
      unsetenv(name.c_str());
  }

private:
  std::vector<std::string> names_;
};

// The log starts with the first call.
void log_warnings() {
  if (config().provider != "dpdkx")
    skip("another provider's settings");
  setenv("FI_LOG_LEVEL", "warn", 1);
  setenv("FI_LOG_PROV", "dpdkx", 1);
}

struct answer {
  int rc;
  std::vector<std::string> lines;
};

answer ask(const fi_info *hints) {
  captured_output output;
  fi_info *list = nullptr;
  const int rc = fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &list);
  fi_freeinfo(list);
  return {rc, provider_lines(output.stop())};
}

void expect_refusal(const char *name, const char *value, const std::string &allowed,
                    const char *at_fault = nullptr) {
  const environment set{{name, value}};
  const answer a = ask(make_hints({}).get());
  CHECK_EQ(a.rc, -FI_ENODATA);
  expect_line(a.lines, {"<warn>", std::string(name) + ": ", at_fault ? at_fault : value,
                        "allowed: ", allowed});
}

} // namespace

CASE(wrong_values_are_told, .ranks = 1) {
  log_warnings();
  expect_refusal("FI_DPDKX_RENDEZVOUS_SIZE", "64KB", "size, 64B to 1GiB (with B, KiB");
  expect_refusal("FI_DPDKX_PEER_TIMEOUT", "10", "time, 100ms to");
  expect_refusal("FI_DPDKX_PULL", "maybe", "yes or no");
  expect_refusal("FI_DPDKX_PORT_RANGE", "9-1", "FIRST-LAST, within 1 to 65535");
  expect_refusal("FI_DPDKX_HUGE_PAGES", "2M", "auto, always, never");
  expect_refusal("FI_DPDKX_MBUFS", "3", "256 to 16777216, or 0");
  expect_refusal("FI_DPDKX_RX_DESCRIPTORS", "65536", "32 to 32768, or 0");
  expect_refusal("FI_DPDKX_PROGRESS_CPU", "500", "a processor that this process may use, ");
}

CASE(wrong_devices_are_told, .ranks = 1) {
  log_warnings();
  expect_refusal("FI_DPDKX_DEVICE", "net_memif0,role=server,idd=0", "role=server|client, id=#");
  expect_refusal("FI_DPDKX_DEVICE", "eth0/1", "a PCI address");
  expect_refusal("FI_DPDKX_DEVICE", "ffff:ff:1f.7", ""); // without DPDK, for another reason
  const environment device{{"FI_DPDKX_DEVICE", "net_memif0,role=server"}};
  expect_refusal("FI_DPDKX_ADDR", "10.0.0.1/24,10.0.1.1", "another host's address");
  expect_refusal("FI_DPDKX_ADDR", "10.0.0.1/24;10.0.0.2/24", "one for each entry",
                 "entry 2, '10.0.0.2/24'");
  expect_refusal("FI_DPDKX_NEIGHBORS", "10.0.0.2=02:00", "address=MAC");
}

// Not refused: it may be of a version to come.
CASE(unknown_names_are_told_once, .ranks = 1) {
  log_warnings();
  const environment set{{"FI_DPDKX_DEVCE", "eth0"}};
  const answer first = ask(make_hints({}).get());
  CHECK_EQ(first.rc, 0);
  expect_line(first.lines, {"<warn>", "FI_DPDKX_DEVCE=eth0", "allowed: "});
  const answer second = ask(make_hints({}).get());
  CHECK_EQ(second.rc, 0);
  CHECK_EQ(second.lines.size(), 0u);
}

// Programs that use something else don't hear of it, nor of anything but this one setting.
CASE(whoever_names_no_provider, .ranks = 1) {
  log_warnings();
  unsetenv("FI_PROVIDER");
  const environment unknown{{"FI_DPDKX_DEVCE", "eth0"}, {"FI_DPDKX_TX_SIZE", "0"}};
  CHECK_EQ(ask(nullptr).lines.size(), 0u);
  const environment offer{{"FI_DPDKX_OFFER", "maybe"}};
  expect_line(ask(nullptr).lines, {"<warn>", "FI_DPDKX_OFFER: 'maybe'", "allowed: yes or no"});
}

} // namespace fabtest

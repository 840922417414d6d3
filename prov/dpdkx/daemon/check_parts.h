// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the files of "dpdkxd check" share.
#pragma once

#include "dpdkx/daemon/check.h"

#include <optional>

namespace dpdkx::daemon {

class Findings {
public:
  void fine(const std::string &about, std::string text) {
    all_.push_back({Verdict::fine, about, std::move(text), {}});
  }
  void note(const std::string &about, std::string text, std::string mend) {
    all_.push_back({Verdict::note, about, std::move(text), std::move(mend)});
  }
  void missing(const std::string &about, std::string text, std::string mend) {
    all_.push_back({Verdict::missing, about, std::move(text), std::move(mend)});
  }
  std::vector<Finding> take() { return std::move(all_); }

private:
  std::vector<Finding> all_;
};

// The first word of a file under the root; empty: none.
std::string kernel_word(const std::filesystem::path &file);
std::optional<std::uint64_t> kernel_number(const std::filesystem::path &file);
// Of "Name:  value" lines, as in /proc/self/status.
std::string kernel_field(const std::filesystem::path &file, std::string_view name);

// Whether DPDK will want huge pages.
bool wants_huge_pages(const Config &);
// Where a device's memory lies; -1: nowhere in particular.
int node_of(const DeviceConfig &, const CheckedHost &);

void check_device(const DeviceConfig &, const CheckedHost &, Findings &); // there, and usable
void check_iommu(const DeviceConfig &, const CheckedHost &, Findings &);  // of vfio-pci
void check_huge_pages(const Config &, const CheckedHost &, Findings &);
void check_privileges(const Config &, const CheckedHost &, Findings &);
void check_processor(const Config &, const CheckedHost &, Findings &);

} // namespace dpdkx::daemon

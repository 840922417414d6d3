// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A folder that stands for /, with what the kernel would show of made-up devices.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace dpdkx::net {

class SysfsTree {
public:
  SysfsTree() {
    static std::atomic<unsigned> number{0};
    root_ = std::filesystem::temp_directory_path() /
            ("sysfs" + std::to_string(getpid()) + "-" + std::to_string(number++));
    std::filesystem::create_directories(root_);
  }
  ~SysfsTree() { std::filesystem::remove_all(root_); }
  SysfsTree(const SysfsTree &) = delete;

  const std::filesystem::path &root() const { return root_; }
  std::filesystem::path sysfs() const { return root_ / "sys"; }

  void file(const std::filesystem::path &path, const std::string &text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }
  void folder(const std::filesystem::path &path) const {
    std::filesystem::create_directories(root_ / path);
  }
  void link(const std::filesystem::path &at, const std::filesystem::path &to) const {
    std::filesystem::create_directories((root_ / at).parent_path());
    std::filesystem::create_symlink(root_ / to, root_ / at);
  }

  // In the places that the kernel has for it; its folder.
  std::string pci(const std::string &address, const std::string &driver, int node,
                  const std::string &device_class = "0x020000") const {
    const std::string at = "sys/devices/pci0000:00/0000:00:01.0/" + address;
    file(at + "/class", device_class);
    file(at + "/vendor", "0x15b3");
    file(at + "/device", "0x1017");
    file(at + "/revision", "0x05");
    file(at + "/numa_node", std::to_string(node));
    link("sys/bus/pci/devices/" + address, at);
    if (!driver.empty()) {
      folder("sys/bus/pci/drivers/" + driver);
      link(at + "/driver", "sys/bus/pci/drivers/" + driver);
    }
    return at;
  }
  // Of the device in a folder; without one, an interface of software alone.
  void interface(const std::string &name, const std::string &device) const {
    const std::string at =
        device.empty() ? "sys/devices/virtual/net/" + name : device + "/net/" + name;
    file(at + "/speed", "100000");
    file(at + "/address", "02:00:00:00:00:1f");
    file(at + "/operstate", "up");
    if (!device.empty())
      link(at + "/device", device);
    link("sys/class/net/" + name, at);
  }
  void rdma(const std::string &name, const std::string &device) const {
    const std::string at =
        device.empty() ? "sys/devices/virtual/infiniband/" + name : device + "/infiniband/" + name;
    file(at + "/fw_ver", "16.35.2000");
    if (!device.empty())
      link(at + "/device", device);
    link("sys/class/infiniband/" + name, at);
  }

private:
  std::filesystem::path root_;
};

} // namespace dpdkx::net

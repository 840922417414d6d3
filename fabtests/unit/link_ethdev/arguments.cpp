// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The arguments known here are those that DPDK's drivers say they take.
#include "dpdkx/net/text.h"
#include "dpdkx/net/vdev_arguments.h"
#include "unit/link_ethdev/hosts.h"

#include <fstream>
#include <iterator>
#include <link.h>

#include "unit/unit.h"

using namespace hosts;

namespace {

std::vector<std::string> loaded_files() {
  std::vector<std::string> files;
  const auto add = [](dl_phdr_info *info, std::size_t, void *out) {
    const std::string name = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    static_cast<std::vector<std::string> *>(out)->push_back(name);
    return 0;
  };
  dl_iterate_phdr(add, &files);
  return files;
}

// The text between quotes that follows `key`.
std::string_view quoted_after(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string_view::npos)
    return {};
  text.remove_prefix(at + key.size());
  return text.substr(0, text.find('"'));
}

// What stands before each '=' of the driver's description ends with a key that is known.
void check_driver(std::string_view name, std::string_view described) {
  for (std::size_t at = 0; (at = described.find('=', at)) != std::string_view::npos; ++at) {
    bool known = false;
    for (auto rest = net::vdev_arguments(name); !rest.empty();) {
      auto argument = net::cut(rest, " ");
      known |= described.substr(0, at).ends_with(net::cut(argument, "="));
    }
    if (!known)
      throw std::runtime_error(std::string(name) + " takes more: " + std::string(described));
  }
}

// How many drivers of the file are known here.
int check_file(const std::string &path) {
  constexpr std::string_view mark = "PMD_INFO_STRING= {"; // dpdk-pmdinfo.py looks for it
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  int seen = 0;
  for (std::size_t at = 0; (at = bytes.find(mark, at)) != std::string::npos; at += mark.size()) {
    const std::string_view line = bytes.c_str() + at; // up to the next 0
    const auto name = quoted_after(line, "\"name\": \"");
    if (net::vdev_arguments(name).empty())
      continue;
    check_driver(name, quoted_after(line, "\"params\": \""));
    ++seen;
  }
  return seen;
}

} // namespace

static void arguments__are_those_of_the_drivers(void **) {
  run({}, {[](Host &) {
        open(request("dpx0")); // DPDK loads its drivers
        int seen = 0;
        for (const auto &path : loaded_files())
          seen += check_file(path);
        CHECK(seen >= 3);
      }});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(arguments__are_those_of_the_drivers),
};
static const unit::Group group{"ethdev_arguments", cases};

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/options.h"

#include "dpdkx/base/cpus.h"
#include "dpdkx/daemon/own_words.h"

#include <algorithm>
#include <sys/un.h>

namespace dpdkx::daemon {

namespace {

using Values = std::vector<Given>;

// Those of one option; what `above` has takes the place of what is below.
Values values_of(const Option &option, std::span<const Given> above, std::span<const Given> below) {
  Values found;
  for (const auto given : {above, below}) {
    for (const Given &one : given)
      if (one.option == option.name)
        found.push_back(one);
    if (!found.empty())
      break;
  }
  return found;
}

bool fail(const Given &given, const std::string &allowed, std::string &error) {
  error = given.where + ": '" + given.value + "'; allowed: " + allowed;
  return false;
}

bool read_value(const Option &option, const Given &given, SettingValue &value, std::string &error) {
  return parse_setting(option.kind, option.bounds, given.value, value) ||
         fail(given, allowed_of(option), error);
}

// What a parser of the rooms below says begins with the setting's name, and counts entries
// of a list; `where` has the name, and a value of ours is one entry.
bool tell(const Given &given, std::string &error) {
  error = in_own_words(error);
  const auto name = given.option + ": ";
  if (error.starts_with(name))
    error.erase(0, name.size());
  if (constexpr std::string_view entry = "entry 1, "; error.starts_with(entry))
    error.erase(0, entry.size());
  error = given.where + ": " + error;
  return false;
}

bool known_names(std::span<const Given> given, std::string &error) {
  for (const Given &one : given)
    if (find_option(one.option) == nullptr) {
      std::string names;
      for (const Option &option : all_options())
        (names += names.empty() ? "" : ", ") += option.name;
      error = one.where + ": no such option; allowed: " + names;
      return false;
    }
  return true;
}

// Devices come first: others are about them.
bool read_devices(const Values &values, Options &out, std::string &error) {
  for (const Given &given : values) {
    std::vector<net::DeviceSpec> specs;
    if (!net::parse_devices(given.value, specs, error))
      return tell(given, error);
    for (net::DeviceSpec &spec : specs) {
      for (const DeviceConfig &other : out.config.devices)
        if (other.request.spec.identity() == spec.identity())
          return fail(given, "each device once; '" + other.request.spec.text + "' is the same",
                      error);
      out.config.devices.emplace_back().request.spec = std::move(spec);
    }
  }
  return true;
}

bool read_addresses(const Values &values, Options &out, std::string &error) {
  auto &devices = out.config.devices;
  std::size_t next = 0;
  for (const Given &given : values) {
    std::vector<std::optional<net::AddressSpec>> addresses;
    if (!net::parse_addresses(given.value, addresses, error))
      return tell(given, error);
    for (const auto &address : addresses) {
      if (next == devices.size())
        return fail(given,
                    "an address for each device, of which there are " +
                        std::to_string(devices.size()),
                    error);
      devices[next++].request.address = address;
    }
  }
  return true;
}

bool read_neighbours(const Values &values, Options &out, std::string &error) {
  for (const Given &given : values) {
    std::vector<net::FixedNeighbour> neighbours;
    if (!net::parse_neighbours(given.value, neighbours, error))
      return tell(given, error);
    for (DeviceConfig &device : out.config.devices)
      for (const auto &neighbour : neighbours)
        device.options.neighbours.push_back(neighbour);
  }
  return true;
}

bool read_of_devices(const Option &option, const Values &values, Options &out, std::string &error) {
  auto &devices = out.config.devices;
  if (values.size() > 1 && values.size() != devices.size())
    return fail(values.back(),
                "one value, or one for each device, of which there are " +
                    std::to_string(devices.size()),
                error);
  // A wrong value is told without devices, too.
  for (std::size_t i = 0; i < std::max(values.size(), devices.size()); ++i) {
    const Given &given = values[std::min(i, values.size() - 1)];
    SettingValue value;
    DeviceConfig none;
    if (!read_value(option, given, value, error))
      return false;
    if (!option.store_of_device(i < devices.size() ? devices[i] : none, value, error))
      return tell(given, error);
  }
  return true;
}

bool read_one(const Option &option, const Values &values, Options &out, std::string &error) {
  SettingValue value;
  const Given &given = values.back();
  if (values.size() > 1)
    return fail(given, "one value, of which there are " + std::to_string(values.size()), error);
  if (!read_value(option, given, value, error))
    return false;
  return option.store(out, value, error) || tell(given, error);
}

bool read(const Option &option, Values values, Options &out, std::string &error) {
  const std::string_view name = option.name;
  if (name == "device")
    return read_devices(values, out, error);
  if (name == "address")
    return read_addresses(values, out, error);
  if (name == "neighbors")
    return read_neighbours(values, out, error);
  if (values.empty())
    values.push_back({option.name, option.preset, option.name});
  return option.takes == Takes::per_device ? read_of_devices(option, values, out, error)
                                           : read_one(option, values, out, error);
}

// What is right by itself and can't be had together.
bool check_together(const Values &huge_pages, const Options &options, std::string &error) {
  for (const DeviceConfig &device : options.config.devices)
    if (device.request.spec.kind == net::DeviceKind::pci &&
        device.options.huge_pages == link::HugePages::never)
      return fail(huge_pages.back(),
                  "auto, always for the PCI device '" + device.request.spec.text + "'", error);
  return true;
}

std::string told(const Option &option, const Values &values) {
  std::string text;
  for (const Given &one : values)
    text += (text.empty() ? "'" : ", '") + one.value + "'";
  return values.empty() ? *option.preset ? "'" + std::string(option.preset) + "'" : "none" : text;
}

// What values come to, however they are written.
struct Meaning {
  std::vector<net::DeviceSpec> devices; // without what is only how they are named
  std::vector<std::optional<net::AddressSpec>> addresses;
  std::vector<net::FixedNeighbour> neighbours;
  std::vector<std::uint64_t> numbers;
  std::vector<std::string> texts; // of all else, and of what can't be read

  friend bool operator==(const Meaning &, const Meaning &) = default;
};

// `parse` fills a list, with a text if it can't.
template <class List, class Parse> bool append(const std::string &text, Parse parse, List &out) {
  List found;
  std::string error;
  if (!parse(text, found, error))
    return false;
  out.insert(out.end(), found.begin(), found.end());
  return true;
}

bool parse_plain_devices(const std::string &text, std::vector<net::DeviceSpec> &out,
                         std::string &error) {
  const bool good = net::parse_devices(text, out, error);
  for (net::DeviceSpec &spec : out)
    spec.text = spec.rdma = "";
  return good;
}

bool add_list(std::string_view name, const std::string &text, Meaning &out) {
  if (name == "device")
    return append(text, parse_plain_devices, out.devices);
  if (name == "address")
    return append(text, net::parse_addresses, out.addresses);
  return name == "neighbors" && append(text, net::parse_neighbours, out.neighbours);
}

void add_meaning(const Option &option, const std::string &text, Meaning &out) {
  SettingValue value;
  if (add_list(option.name, text, out))
    return;
  if (option.kind != SettingKind::text && parse_setting(option.kind, option.bounds, text, value))
    out.numbers.push_back(value.number);
  else
    out.texts.push_back(text);
}

Meaning meaning(const Option &option, const Values &values) {
  Meaning out;
  for (const Given &one : values)
    add_meaning(option, one.value, out);
  if (values.empty() && *option.preset)
    add_meaning(option, option.preset, out);
  // One for each device, all alike, is one for all of them.
  if (option.takes == Takes::per_device && !out.numbers.empty() &&
      std::ranges::count(out.numbers, out.numbers[0]) == std::ssize(out.numbers))
    out.numbers.resize(1);
  return out;
}

} // namespace

bool read_options(std::span<const Given> command_line, std::span<const Given> file, Options &out,
                  std::string &error) {
  out = {};
  if (!known_names(command_line, error) || !known_names(file, error))
    return false;
  Values huge_pages;
  for (const Option &option : all_options()) {
    const Values values = values_of(option, command_line, file);
    if (std::string_view(option.name) == "huge-pages")
      huge_pages = values;
    if (!read(option, values, out, error))
      return false;
  }
  return check_together(huge_pages, out, error);
}

std::vector<Given> what_reload_changes(std::span<const Given> running, std::span<const Given> read,
                                       std::vector<std::string> &left) {
  Values out;
  for (const Option &option : all_options()) {
    const Values before = values_of(option, running, {}), after = values_of(option, read, {});
    if (!option.at_run_time && meaning(option, before) != meaning(option, after))
      left.push_back((after.empty() ? option.name : after.front().where) + ": " +
                     told(option, after) + " takes a restart; stays " + told(option, before));
    const Values &kept = option.at_run_time ? after : before;
    out.insert(out.end(), kept.begin(), kept.end());
  }
  return out;
}

} // namespace dpdkx::daemon

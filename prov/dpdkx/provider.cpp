// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/provider.h"

#include "dpdkx/base/log.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <strings.h>
#include <unistd.h>

#ifndef EXTERNALLY_VISIBLE
#define EXTERNALLY_VISIBLE externally_visible
#endif

namespace dpdkx {

namespace {

// Runs in a destructor of libfabric, also in forked children and while other
// threads still run: there is nothing that needs it.
void cleanup() {}

fi_log_level to_fi(LogLevel level) {
  switch (level) {
  case LogLevel::warn:
    return FI_LOG_WARN;
  case LogLevel::info:
    return FI_LOG_INFO;
  case LogLevel::debug:
    break;
  }
  return FI_LOG_DEBUG;
}

// The rooms below the face are about moving data.
void log_to_libfabric(LogLevel level, std::string_view text) {
  const int saved = errno;
  fi_log(&provider, to_fi(level), FI_LOG_EP_DATA, "transport", 0, "%.*s\n",
         static_cast<int>(text.size()), text.data());
  errno = saved;
}

bool libfabric_logs(LogLevel level) {
  return fi_log_enabled(&provider, to_fi(level), FI_LOG_EP_DATA) != 0;
}

const char *environment_value(const Setting &setting) {
  char *text = nullptr;
  return fi_param_get_str(&provider, setting.name, &text) == 0 ? text : nullptr;
}

void define_settings() {
  for (const Setting &setting : all_settings()) {
    const std::string allowed = allowed_values(setting.kind, setting.bounds);
    fi_param_define(&provider, setting.name, FI_PARAM_STRING, "%s; %s (default: %s)", setting.text,
                    allowed.c_str(), *setting.preset ? setting.preset : "none");
  }
}

// A slip in a name would leave the default in place without a word. Once a
// process, and only in one that uses dpdkx.
void tell_unknown_settings() {
  static std::atomic_flag told;
  if (told.test_and_set())
    return;
  for (const std::string_view entry : unknown_settings(environ))
    FI_WARN(&provider, FI_LOG_CORE,
            "%.*s: there is no such setting; allowed: those that 'fi_info -e' lists\n",
            static_cast<int>(entry.size()), entry.data());
}

} // namespace

fi_provider provider = {
    .version = provider_version,
    .fi_version = 0, // set when it is known under which libfabric this runs
    .context = {},
    .name = provider_name,
    .getinfo = getinfo,
    .fabric = open_fabric,
    .cleanup = cleanup,
};

int current_settings(Settings &out) {
  tell_unknown_settings();
  std::string error;
  const int rc = read_settings(environment_value, out, error);
  if (rc)
    FI_WARN(&provider, FI_LOG_CORE, "%s\n", error.c_str());
  return rc;
}

// Asked by every program that lists providers: reads this one setting alone.
bool offered_to_all() {
  for (const Setting &setting : all_settings()) {
    SettingValue value;
    if (std::strcmp(setting.name, "offer") != 0)
      continue;
    const char *text = environment_value(setting);
    std::string error;
    if (!text)
      return false;
    if (read_setting(setting, text, value, error))
      return value.number;
    FI_WARN(&provider, FI_LOG_CORE, "%s\n", error.c_str());
  }
  return false;
}

namespace {

enum class Naming { none, alone, layered };

// Names separated by ',', each of which may be layers separated by ';'.
Naming naming() {
  char *text = nullptr;
  if (fi_param_get_str(nullptr, "provider", &text) != 0 || text == nullptr || *text == '^')
    return Naming::none;
  Naming found = Naming::none;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    for (std::string_view layers = entry; !layers.empty();) {
      const std::size_t end = std::min(layers.find(';'), layers.size());
      if (end == std::string_view(provider_name).size() &&
          strncasecmp(layers.data(), provider_name, end) == 0)
        found = std::max(found, end == entry.size() ? Naming::alone : Naming::layered);
      layers.remove_prefix(std::min(end + 1, layers.size()));
    }
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
  }
  return found;
}

} // namespace

bool named_by_user() { return naming() != Naming::none; }
bool layered_by_user() { return naming() == Naming::layered; }

} // namespace dpdkx

extern "C" FI_EXT_INI {
  using namespace dpdkx;
  try {
    provider.fi_version = std::min(fi_version(), newest_api);
    define_settings();
    set_log_filter(libfabric_logs);
    set_log_sink(log_to_libfabric);
  } catch (...) {
    return nullptr; // libfabric passes over it
  }
  return &provider;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lang/builtin.h"

#include "collc/lang/parser.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace collc {

namespace {

std::string names() {
  std::string all;
  for (const auto &b : builtins())
    all += (all.empty() ? "" : ", ") + std::string(b.name);
  return all;
}

} // namespace

std::string text_of(const std::string &name) {
  const auto all = builtins();
  if (const auto found = std::ranges::find(all, name, &builtin::name); found != all.end())
    return std::string(found->text);
  errno = 0;
  std::ifstream in(name, std::ios::binary);
  std::string text;
  char part[4096];
  do {
    in.read(part, sizeof part);
    text.append(part, static_cast<std::size_t>(in.gcount()));
  } while (in);
  if (!in.eof() || in.bad()) // a folder opens, but can't be read
    throw error("algorithm '" + name + "' is neither a file that can be read (" +
                std::strerror(errno) + ") nor one of " + names());
  return text;
}

algorithm load(const std::string &name) { return parse(text_of(name), name); }

} // namespace collc

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Texts of algorithms, from which schedules are made and checked. Whatever they say, they are
// refused by an error of the compiler's, or compiled. How, the last bytes of the text say; it
// begins with those of the built-in ones.
#include "collc/check/check.h"
#include "collc/lang/error.h"
#include "collc/lang/parser.h"

#include <algorithm>
#include <string_view>

using namespace collc;

namespace {

// Ranks, bytes and options, from what the text ends with.
class choices {
public:
  explicit choices(std::string_view text) : text_(text) {}
  unsigned operator()(unsigned below) {
    if (text_.empty())
      return 0;
    const auto byte = static_cast<unsigned char>(text_.back());
    text_.remove_suffix(1);
    return byte % below;
  }

private:
  std::string_view text_;
};

void compile(const algorithm &a, choices next) {
  request q;
  q.ranks = next(10);
  q.root = next(10);
  q.bytes = next(3) * 5;
  q.most_steps = 1 << 10;
  lowering how;
  how.how = next(4) == 0 ? scheme::prematched : scheme::water_tank;
  const unsigned options = next(64);
  how.ordered = options & 1;
  how.wait_for_delivery = options & 2;
  how.own_start = options & 4;
  how.counted_writes = options & 8;
  how.raise_for_branches = options & 16;
  if (options & 32)
    how.most_works = 1 + next(8);
  compiler c(a, q, how);
  (void)check(c);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  try {
    compile(parse(text, "input"), choices(text));
  } catch (const error &) { // the user's
  }
  return 0;
}

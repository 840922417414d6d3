// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What most files include of the system's headers: reading these takes more of a compiler's time
// than our own. The builds of quickstart, check and under sanitizers have them compiled once; see
// precompile. distcheck does not, so that a file which forgets to include one of them doesn't
// compile there.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#if __has_include(<fmt/format.h>)
#include <fmt/format.h>
#endif
// Unit tests are programs, and no module uses it. To each file that has it compiled before, it adds
// as much as all of the above.
#if defined(__PIE__) && __has_include(<rapidcheck.h>)
#include <rapidcheck.h>
#endif

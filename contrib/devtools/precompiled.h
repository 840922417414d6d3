// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What most files include of the system's headers: reading these takes more of a compiler's time
// than our own. The builds under sanitizers have them compiled once; see subbuild. The usual build
// does not, so that a file which forgets to include one of them doesn't compile there.
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
#if __has_include(<rapidcheck.h>)
#include <rapidcheck.h>
#endif

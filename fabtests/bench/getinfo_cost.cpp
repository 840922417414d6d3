// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What one call of fi_getinfo costs a process.
//   getinfo_cost           calls it once; its whole run is timed by whoever starts it
//   getinfo_cost PROVIDER  does what libfabric does with that one shared object, and prints how
//                          many milliseconds it took: to load it, and to ask it
#include <chrono>
#include <cstdio>

#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>

namespace {

using clock = std::chrono::steady_clock;

double milliseconds_since(clock::time_point start) {
  return std::chrono::duration<double, std::milli>(clock::now() - start).count();
}

// A provider that isn't named may have nothing to offer.
int answered(int rc) { return rc == 0 || rc == -FI_ENODATA ? 0 : 1; }

int ask_libfabric() {
  fi_info *list = nullptr;
  const int rc = fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, nullptr, &list);
  fi_freeinfo(list);
  return answered(rc);
}

int time_provider(const char *path) {
  const clock::time_point start = clock::now();
  void *const object = dlopen(path, RTLD_NOW);
  const auto init =
      object ? reinterpret_cast<fi_provider *(*)()>(dlsym(object, "fi_prov_ini")) : nullptr;
  if (!init) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  fi_provider *const provider = init();
  const double loaded = milliseconds_since(start);
  fi_info *list = nullptr;
  const int rc = provider->getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, nullptr, &list);
  std::printf("%.3f %.3f\n", loaded, milliseconds_since(start));
  fi_freeinfo(list);
  provider->cleanup();
  return answered(rc);
}

} // namespace

int main(int argc, char **argv) { return argc > 1 ? time_provider(argv[1]) : ask_libfabric(); }

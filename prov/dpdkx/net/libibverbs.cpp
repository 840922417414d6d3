// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/libibverbs.h"

#include <cstring>
#include <dlfcn.h>

namespace dpdkx::net {

namespace {

Libibverbs load() {
  void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr)
    return {};
  auto *get = reinterpret_cast<IbvDevice **(*)(int *)>(dlsym(library, "ibv_get_device_list"));
  auto *free = reinterpret_cast<void (*)(IbvDevice **)>(dlsym(library, "ibv_free_device_list"));
  if (get == nullptr || free == nullptr)
    return {};
  return {get, free};
}

} // namespace

const Libibverbs &libibverbs() {
  static const Libibverbs library = load();
  return library;
}

std::filesystem::path ibverbs_device(const std::string &name, const Libibverbs &library) {
  int count = 0;
  IbvDevice **devices = library.get_device_list ? library.get_device_list(&count) : nullptr;
  if (devices == nullptr)
    return {};
  std::string path;
  for (int i = 0; i < count && path.empty(); ++i)
    if (std::strncmp(devices[i]->name, name.c_str(), sizeof(devices[i]->name)) == 0)
      path.assign(devices[i]->ibdev_path,
                  strnlen(devices[i]->ibdev_path, sizeof(devices[i]->ibdev_path)));
  library.free_device_list(devices);
  return path;
}

} // namespace dpdkx::net

#include "base/dynamic_library.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

namespace agw {

DynamicLibrary::DynamicLibrary(const char* file, std::string_view package)
    : file_(file), package_(package), handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) problem_ = fmt::format("{} cannot be loaded, install the package {} ({})", file_, package_, dlerror());
}

void* DynamicLibrary::symbol(const char* name) {
  void* found = handle_ ? dlsym(handle_, name) : nullptr;
  if (!found && problem_.empty()) {
    problem_ = fmt::format("{} has no {}: install a newer package {}", file_, name, package_);
  }
  return found;
}

}  // namespace agw

#include "io/files/descriptor.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace agw {

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

void throw_errno(const std::string& action) {
  const auto error = errno;
  throw std::system_error(error, std::generic_category(), action);
}

std::filesystem::path real_path(const Descriptor& opened) {
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(opened.get()));
}

}  // namespace agw

#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace agw {

/// Owns an open file descriptor.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Releases ownership; the caller must close the descriptor.
  int release() { return std::exchange(number_, -1); }

private:
  int number_ = -1;
};

/// The current path of an open file, without symlinks. Throws std::filesystem::filesystem_error.
std::filesystem::path real_path(const Descriptor& opened);

/// Throws std::system_error with `errno`, which lets callers recognise a full disk. `action` states what failed and
/// includes the path.
[[noreturn]] void throw_errno(const std::string& action);

}  // namespace agw

#pragma once

#include <optional>

#include "io/files/directory.hpp"

namespace agw {

/// An `errno` as a FileError; nullopt if it is none that callers handle, such as that of a full disk.
std::optional<FileError> file_error_of(int error);

}  // namespace agw

#pragma once

#include <optional>

#include "io/files/directory.hpp"

namespace agw {

/// The FileError for an `errno`. Returns nullopt for errors that callers cannot handle, such as that of a full disk.
std::optional<FileError> file_error_of(int error);

}  // namespace agw

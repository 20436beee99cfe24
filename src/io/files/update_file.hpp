#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "io/files/directory.hpp"

namespace agw {

/// Makes the new content of a file from the present one, which is null if there is no file. Nullopt changes nothing.
using FileEdit = std::function<std::optional<std::string>(const std::string* present)>;

/// Changes a file that other programs may write at any time, such as the editor of a person. Replaces it atomically, as
/// Directory::write does, but only the version that `change` got: if the file was saved meanwhile, calls `change` again
/// with the new content. Fails, without a call, if a file cannot be read or has more than `limit` bytes. Throws
/// std::system_error if the file is saved again and again. What `change` throws, leaves the file unchanged. Blocks.
/// Example: src/io/files/update_file_test.cpp: UpdateFileTest.KeepsWhatWasSavedMeanwhile
FileResult<void> update_file(const Directory& directory, std::string_view path, std::size_t limit,
                             const FileEdit& change, mode_t mode = 0600, Durability durability = Durability::now);

/// Removes the file if `is_removable` returns true for its content: only that version, as `update_file` does.
FileResult<void> remove_file_if(const Directory& directory, std::string_view path, std::size_t limit,
                                const std::function<bool(const std::string& present)>& is_removable);

/// Writes a file whose present content does not matter. Returns false, and leaves the file, if another program saved it
/// while this call wrote. Blocks.
FileResult<bool> replace_unchanged_file(const Directory& directory, std::string_view path, std::string content,
                                        mode_t mode = 0600);

}  // namespace agw

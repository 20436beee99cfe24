#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace agw {

/// When a written file is on disk: before the function returns, or with the caller's next sync, until which the caller
/// keeps a record of the write.
enum class Durability { now, later };

/// Creates or replaces `path` with this content and mode atomically: readers find the old file or the new one,
/// complete, even after a crash. It is on disk when this returns. A symlink at `path` is replaced, not followed. Throws
/// std::system_error that names the path; the old file is then untouched. Blocks: not for the loop.
/// Example: src/io/files/atomic_file_test.cpp: AtomicFileTest.MakesAndReplacesAFileWithItsMode
void replace_file(const std::filesystem::path& path, std::string_view content, mode_t mode);

/// Creates `path` the same way; false if it is there: of several that create it at the same time, one succeeds.
/// Example: src/io/files/atomic_file_test.cpp: AtomicFileTest.OfSeveralThatCreateAFileOneSucceeds
bool create_file(const std::filesystem::path& path, std::string_view content, mode_t mode);

/// The same as `replace_file` in an open directory; `name` has no slash, `path` is for errors.
void replace_file_in(int directory, const std::string& name, std::string_view content, mode_t mode,
                     const std::filesystem::path& path, Durability durability = Durability::now);

/// A unique name for a temporary file.
std::string temporary_name();
/// The same for the same key each time: a record of the key finds the file after a crash.
std::string temporary_name_of(std::string_view key);
/// Whether it is the name of a temporary file, which may be left over from a crash and is hidden from lists.
bool is_temporary_name(std::string_view name);

/// Removes temporary files that interrupted writes left in a directory (not beneath it): those that nobody has written
/// to for `age`. Returns how many. Files that cannot be removed stay. Blocks.
std::size_t remove_stale_temporary_files(const std::filesystem::path& directory, std::chrono::seconds age);

}  // namespace agw

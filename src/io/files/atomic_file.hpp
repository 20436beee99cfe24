#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace agw {

/// When a written file is on disk: before the function returns, or after the caller's next sync, until which the caller
/// keeps a record of the write.
enum class Durability { now, later };

/// Creates or replaces `path` with this content and mode atomically: readers find either the old or the new file,
/// complete, even after a crash. The file is on disk when the function returns. A symlink at `path` is replaced, not
/// followed. Throws std::system_error that names `path`; the old file is then unchanged. Blocks, so do not call it on
/// the loop.
/// Example: src/io/files/atomic_file_test.cpp: AtomicFileTest.MakesAndReplacesAFileWithItsMode
void replace_file(const std::filesystem::path& path, std::string_view content, mode_t mode);

/// Creates `path` in the same way; returns false if it exists. Of several concurrent calls, only one succeeds.
/// Example: src/io/files/atomic_file_test.cpp: AtomicFileTest.OfSeveralThatCreateAFileOneSucceeds
bool create_file(const std::filesystem::path& path, std::string_view content, mode_t mode);

/// Like `replace_file`, but in an open directory; `name` contains no slash, `path` is for error messages.
void replace_file_in(int directory, const std::string& name, std::string_view content, mode_t mode,
                     const std::filesystem::path& path, Durability durability = Durability::now);

/// A unique name for a temporary file.
std::string temporary_name();
/// A name for a temporary file that depends only on `key`, so that a record with the key finds the file after a crash.
std::string temporary_name_of(std::string_view key);
/// Whether `name` is that of a temporary file. Such files are hidden from lists and may be left over from a crash.
bool is_temporary_name(std::string_view name);

/// Removes temporary files of interrupted writes from a directory (not from its subdirectories), if they were not
/// modified for `age`. Returns their number. Files that cannot be removed are skipped. Blocks.
std::size_t remove_stale_temporary_files(const std::filesystem::path& directory, std::chrono::seconds age);

}  // namespace agw

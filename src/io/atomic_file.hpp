#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace agw {

/// When a file that was written is on disk: before the function returns, or with the next sync of whoever keeps a note
/// of what is to be written until then.
enum class Durability { now, later };

/// Makes `path` a file with this content and mode, as one step: whoever reads it, after a crash too, finds the old file
/// or the new one, whole. On disk when this returns. A symlink at `path` is replaced, not followed. Throws
/// std::system_error that names the path; the old file is then untouched. Blocks: not for the loop.
void replace_file(const std::filesystem::path& path, std::string_view content, mode_t mode);

/// The same in an open directory; `name` has no slash. `path` stands in errors.
void replace_file_in(int directory, const std::string& name, std::string_view content, mode_t mode,
                     const std::filesystem::path& path, Durability durability = Durability::now);

/// A name of its own for a file under way.
std::string temporary_name();
/// Whether it is the name of a file under way, which a crash leaves behind and nobody should see.
bool is_temporary_name(std::string_view name);

}  // namespace agw

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/files/directory.hpp"
#include "tools/opened_path.hpp"
#include "tools/stop_flag.hpp"

namespace agw {

/// A range of lines, counted from 1.
struct LineRange {
  std::int64_t first = 1;
  std::int64_t count = 2000;
};

/// Returns lines of a file with their numbers, in the format of `cat -n`. Long lines and long results are truncated
/// with a notice. Throws BadRequest for a binary file. Reads no more of a large file than necessary. Blocks.
std::string numbered_lines(const OpenedPath& file, LineRange range, const StopFlag& stopped);

/// Does the same for a text that is not in a file.
std::string numbered_lines(std::string_view text, LineRange range);

/// Lists the names in a directory, one per line, directories with a slash, without those that agents may not read.
/// Blocks.
std::string listed_directory(const OpenedPath& directory, const FileRoots& roots);

/// Returns the whole content of a file for an edit. Throws BadRequest for a binary or very large file. Blocks.
std::string whole_text(const OpenedPath& file);

}  // namespace agw

#pragma once

#include <cstdint>
#include <string>

#include "io/beneath.hpp"
#include "tools/located.hpp"
#include "tools/stop_flag.hpp"

namespace agw {

/// Which lines of a file, counted from 1.
struct LineRange {
  std::int64_t first = 1;
  std::int64_t count = 2000;
};

/// Lines of a file with their numbers, as `cat -n` shows them. Long lines and more than a model can take are cut, and
/// the text says so. Throws BadRequest for a binary file. Reads no more of a large file than it must. Blocks.
std::string numbered_lines(const Located& file, LineRange range, const StopFlag& stopped);

/// The names in a directory, one a line, directories with a slash; without what no agent may read. Blocks.
std::string listed_directory(const Located& directory, const FileRoots& roots);

/// The whole of a file that is to be edited. Throws BadRequest for a binary or a very large one. Blocks.
std::string whole_text(const Located& file);

}  // namespace agw

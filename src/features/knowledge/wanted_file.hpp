#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/descriptor.hpp"
#include "tools/tool.hpp"

namespace agw {

/// A file that an agent names, as the kernel opened it: what it is judged by is what is read afterwards, whatever
/// happens to the path in between.
struct WantedFile {
  ToolTarget target;                       ///< where it really lies
  std::string problem;                     ///< why it is none that can be kept; empty for none
  std::shared_ptr<Descriptor> descriptor;  ///< names it, but reads nothing
};

/// `path` is absolute, in home (`~/…`), or starts at the run's working directory. Blocks: not for the loop.
WantedFile find_wanted_file(std::string_view path, const FileRoots& roots);

/// Its content, for one without a problem. Throws BadRequest. Blocks: not for the loop.
std::string read_wanted_file(const WantedFile& file);

}  // namespace agw

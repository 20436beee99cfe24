#pragma once

#include <optional>
#include <string>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"

namespace agw {

/// The texts that a person's editor has open, which may differ from the files. Paths are absolute and resolved.
class TextBuffers {
public:
  virtual ~TextBuffers() = default;

  /// The file's text as the editor has it; nullopt: the file says it.
  virtual Task<std::optional<std::string>> read(std::string path, StopSource& stop) = 0;
  /// Has the editor write the file. False: the caller has to.
  virtual Task<bool> write(std::string path, std::string text, StopSource& stop) = 0;
};

}  // namespace agw

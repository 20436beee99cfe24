#pragma once

#include <optional>
#include <string>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"

namespace agw {

/// The texts of open files in a person's editor, which may have unsaved changes. Paths are absolute and resolved.
class TextBuffers {
public:
  virtual ~TextBuffers() = default;

  /// Returns the editor's text of the file; nullopt: read the file instead.
  virtual Task<std::optional<std::string>> read(std::string path, StopSource& stop) = 0;
  /// Makes the editor write the file. Returns false if the caller has to write it.
  virtual Task<bool> write(std::string path, std::string text, StopSource& stop) = 0;
};

}  // namespace agw

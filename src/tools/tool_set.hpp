#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/tool.hpp"

namespace agw {

/// All registered tools.
class ToolSet {
public:
  /// Returns the current tools of extensions. Called on the loop, at each step of a run.
  using Source = std::function<std::vector<ToolPointer>()>;

  /// Throws InternalError for a duplicate name.
  void add(Tool tool);
  void add(std::vector<Tool> tools);
  void add(Source source);
  /// Adds what `room.tools()` returns, at each step. `room` must outlive this.
  template <class Room>
  void add_tools_of(Room& room) {
    add(Source([&room] { return room.tools(); }));
  }

  /// Sorted by name, so that the model gets the same list in every call. A tool of a source is left out if its name is
  /// taken.
  std::map<std::string, ToolPointer, std::less<>> all() const;
  /// Returns nullptr if there is no such tool.
  ToolPointer find(std::string_view name) const;

private:
  std::map<std::string, ToolPointer, std::less<>> own_;
  std::vector<Source> sources_;
};

}  // namespace agw

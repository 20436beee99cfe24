#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/tool.hpp"

namespace agw {

/// All tools that there are, whoever registered them.
class ToolSet {
public:
  /// Gives the tools that come and go with extensions, as they are now; asked on the loop, at each step of a run.
  using Source = std::function<std::vector<ToolPointer>()>;

  /// Throws std::logic_error for a name that is taken.
  void add(Tool tool);
  void add(std::vector<Tool> tools);
  void add(Source source);

  /// By name, so that what a model is told of them stays the same from call to call. Where a source has a name that is
  /// taken, it is left out.
  std::map<std::string, ToolPointer, std::less<>> all() const;
  /// Null where there is none.
  ToolPointer find(std::string_view name) const;

private:
  std::map<std::string, ToolPointer, std::less<>> own_;
  std::vector<Source> sources_;
};

}  // namespace agw

#pragma once

#include <string_view>

#include "base/json/json.hpp"
#include "features/extensions/service.hpp"

namespace agw {

/// The enabled commands as MCP prompts. Each has one argument, `arguments`: the text after the command's name.
class CommandPrompts {
public:
  explicit CommandPrompts(const Extensions& extensions) : extensions_(extensions) {}

  json::array list() const;
  bool has(std::string_view name) const;
  /// The result of `prompts/get`. Throws McpError -32602.
  json::object get(const json::object& params) const;

private:
  const Extensions& extensions_;
};

}  // namespace agw

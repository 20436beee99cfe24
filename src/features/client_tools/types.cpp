#include "features/client_tools/types.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

constexpr std::size_t max_tools = 512;
constexpr std::size_t max_name = 64;

/// The names that all model services accept.
bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name &&
         std::ranges::all_of(name, [](char c) { return is_alphanumeric(c) || c == '_' || c == '-'; });
}

/// The member, unless it is null, which counts as omitted.
const json::value* offered_member(const json::object& message, std::string_view name) {
  const auto* value = message.if_contains(name);
  return value && !value->is_null() ? value : nullptr;
}

bool offered_flag(const json::object& files, std::string_view name) {
  const auto* value = offered_member(files, name);
  if (value && !value->is_bool()) throw BadRequest(fmt::format("files.{} must be a boolean", name));
  return value && value->get_bool();
}

ToolDescription read_tool(const json::value& value, std::size_t number) {
  const auto refuse = [number](std::string_view why) { throw BadRequest(fmt::format("tools[{}]: {}", number, why)); };
  const auto* tool = value.if_object();
  if (!tool) refuse("must be an object");
  ToolDescription read{string_or_empty(*tool, "name"), string_or_empty(*tool, "description"), {}};
  if (!is_tool_name(read.name)) refuse("name must be 1 to 64 of the characters A-Z, a-z, 0-9, _ and -");
  const auto* schema = object_member(*tool, "input_schema");
  if (!schema) refuse("input_schema must be an object");
  read.input_schema = *schema;
  return read;
}

}  // namespace

LentTools read_offer(const json::object& message) {
  LentTools lent;
  const auto* tools = array_member(message, "tools");
  if (offered_member(message, "tools") && !tools) throw BadRequest("tools must be an array");
  if (tools && tools->size() > max_tools) throw BadRequest(fmt::format("at most {} tools are possible", max_tools));
  for (std::size_t i = 0; tools && i < tools->size(); ++i) {
    auto tool = read_tool((*tools)[i], i);
    if (contains(lent.tools, tool.name, &ToolDescription::name))
      throw BadRequest(fmt::format("tools[{}]: another tool has this name", i));
    lent.tools.push_back(std::move(tool));
  }
  const auto* system = offered_member(message, "system");
  if (system && !system->is_string()) throw BadRequest("system must be a string");
  lent.system = string_or_empty(message, "system");
  const auto* files = offered_member(message, "files");
  if (files && !files->is_object()) throw BadRequest("files must be an object");
  lent.reads_files = files && offered_flag(files->get_object(), "read");
  lent.writes_files = files && offered_flag(files->get_object(), "write");
  return lent;
}

}  // namespace agw

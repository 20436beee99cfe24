#include "models/tool_calls.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/id.hpp"
#include "models/wire_json.hpp"

namespace agw {

namespace {

/// Some servers send no arguments, or null, where a tool takes none.
std::optional<json::object> read_arguments(std::string_view arguments) {
  if (arguments.find_first_not_of(" \t\r\n") == std::string_view::npos || arguments == "null") return json::object();
  return parse_frame(arguments);
}

}  // namespace

ToolCalls::Call* ToolCalls::find(std::int64_t index) {
  const auto found =
      std::find_if(calls_.rbegin(), calls_.rend(), [&](const Call& call) { return call.index == index; });
  return found == calls_.rend() ? nullptr : &*found;
}

void ToolCalls::add(std::int64_t index, std::string_view id, std::string_view name, std::string_view arguments) {
  auto* call = find(index);
  const bool another = call && !id.empty() && !call->id.empty() && call->id != id;
  if (!call || another) call = &calls_.emplace_back(Call{index, {}, {}, {}});
  if (call->id.empty()) call->id = id;
  if (call->name.empty()) call->name = name;
  call->arguments += arguments;
}

void ToolCalls::set_arguments(std::int64_t index, std::string_view arguments) {
  if (auto* call = find(index)) call->arguments = arguments;
}

void ToolCalls::put(std::int64_t index, std::string_view id, std::string_view name, std::string_view arguments) {
  const auto known = std::ranges::find_if(calls_, [&](const Call& call) { return !id.empty() && call.id == id; });
  if (known == calls_.end()) {
    add(index, id, name, {});
    return set_arguments(index, arguments);
  }
  if (known->name.empty()) known->name = name;
  known->arguments = arguments;
}

bool ToolCalls::readable() const {
  return std::ranges::all_of(calls_, [](const Call& call) { return read_arguments(call.arguments).has_value(); });
}

std::vector<ToolUse> ToolCalls::finish() const {
  std::vector<ToolUse> uses;
  std::set<std::string> ids;
  for (const auto& call : calls_) {
    auto& use = uses.emplace_back();
    use.id = call.id;
    if (use.id.empty() || ids.contains(use.id)) use.id = "call_" + random_hex(12);
    ids.insert(use.id);
    use.name = call.name;
    if (auto input = read_arguments(call.arguments)) {
      use.input = std::move(*input);
    } else {
      use.raw_input = to_utf8(call.arguments);
    }
  }
  return uses;
}

}  // namespace agw

#include "models/tool_calls.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "models/json_reader.hpp"
#include "models/utf8_decoder.hpp"

namespace agw {

namespace {

/// Some servers send no arguments, or null, for a tool without parameters.
std::optional<json::object> read_arguments(std::string_view arguments) {
  if (is_blank(arguments) || arguments == "null") return json::object();
  if (auto object = parse_object(arguments)) return object;
  // Others send the JSON as a string of JSON.
  const auto end = arguments.find_last_not_of(white_space);
  const auto text = arguments[end] == '"' ? parse_json(arguments) : std::nullopt;
  return text && text->is_string() ? parse_object(text->get_string()) : std::nullopt;
}

bool are_complete(std::string_view arguments) { return !is_blank(arguments) && read_arguments(arguments).has_value(); }

/// Some servers send `{}`, or all arguments, before the arguments in pieces.
void append(std::string& arguments, std::string_view piece) {
  constexpr std::size_t max_checked = 64 * 1024;
  if (piece.starts_with('{') && arguments.size() <= max_checked && are_complete(arguments)) arguments.clear();
  arguments += piece;
}

}  // namespace

void set_arguments_of(ToolUse& use, std::string text) {
  auto input = read_arguments(text);
  use.is_malformed = !input;
  if (input) use.input = std::move(*input);
  // Not `null`, not a string of JSON, and not half of a character, which other programs cannot read.
  const bool is_readable = text.find('{') < text.find('"') && (text.find("\\u") == text.npos || parse_json(text));
  if (is_readable || use.is_malformed) use.arguments = std::move(text);
}

ToolCalls::Call* ToolCalls::find(std::int64_t index) {
  const auto found =
      std::find_if(calls_.rbegin(), calls_.rend(), [&](const Call& call) { return call.index == index; });
  return found == calls_.rend() ? nullptr : &*found;
}

bool ToolCalls::Call::ends_before(std::string_view its_id, std::string_view its_name,
                                  std::string_view its_arguments) const {
  if (its_name.empty()) return false;
  if (!its_id.empty() && !id.empty()) return its_id != id;
  const bool is_the_same = its_name == name && its_arguments == arguments;
  return !is_the_same && !is_blank(its_arguments) && are_complete(arguments);
}

void ToolCalls::add(std::int64_t index, std::string_view id, std::string_view name, std::string_view arguments) {
  auto* call = find(index);
  if (!call || call->ends_before(id, name, arguments)) {
    call = &calls_.emplace_back(Call{index, {}, {}, {}});
  } else if (!name.empty() && !is_blank(arguments) && are_complete(call->arguments)) {
    call->arguments.clear();
  }
  if (call->id.empty()) call->id = id;
  if (call->name.empty()) call->name = name;
  append(call->arguments, arguments);
}

void ToolCalls::add_arguments(std::int64_t index, std::string_view arguments) {
  if (auto* call = find(index)) append(call->arguments, arguments);
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
    use.id = to_valid_utf8(call.id);
    if (use.id.empty() || ids.contains(use.id)) use.id = "call_" + random_hex(12);
    ids.insert(use.id);
    use.name = to_valid_utf8(call.name);
    set_arguments_of(use, to_valid_utf8(call.arguments));
  }
  AGW_ASSERT(uses.size() == calls_.size());
  AGW_ASSERT(ids.size() == uses.size());  // each result has one call
  return uses;
}

}  // namespace agw

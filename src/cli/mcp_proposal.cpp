#include "cli/mcp_proposal.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "base/id.hpp"
#include "base/time.hpp"
#include "base/yaml.hpp"
#include "features/proposals/types.hpp"
#include "io/beneath.hpp"

namespace agw::cli {

namespace {

constexpr std::size_t longest_name = 40;

/// A segment of the proposal's address, from its title.
std::string name_from(std::string_view title) {
  std::string name;
  for (const char c : title.substr(0, longest_name)) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_letter)
      name += c;
    else if (c >= 'A' && c <= 'Z')
      name += static_cast<char>(c + ('a' - 'A'));
    else if (!name.empty() && !name.ends_with('-'))
      name += '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return (name.empty() ? "change" : name) + "-" + random_hex(3);
}

/// What nobody could apply is refused at once, as the agents' own tool does.
void check(const json::object& head) {
  if (!from_text<ProposalType>(*string_member(head, "type"))) {
    throw std::runtime_error("type must be one of soul, extension, file, knowledge");
  }
  for (const auto* member : {"title", "target"}) {
    const auto text = *string_member(head, member);
    if (text.find_first_not_of(" \t\r\n") == text.npos) throw std::runtime_error(fmt::format("{} is required", member));
  }
  if (string_member(head, "target")->ends_with('/')) {
    throw std::runtime_error("target must be a file: it ends like a directory");
  }
}

template <class T>
void require(const FileResult<T>& result, const std::string& path) {
  if (!result) throw std::runtime_error(fmt::format("cannot write {}: {}", path, to_string(result.error())));
}

}  // namespace

std::string stage_proposal(const std::filesystem::path& data_directory, const json::object& input) {
  const auto now = to_iso8601(SystemClock().now());
  json::object head;
  for (const auto* member : {"title", "type", "target", "content"}) {
    const auto value = string_member(input, member);
    const auto* problem = input.contains(member) ? "must be a string" : "is required";
    if (!value) throw std::runtime_error(fmt::format("{} {}", member, problem));
    if (std::string_view(member) != "content") head[member] = *value;
  }
  check(head);
  head["agent"] = "mcp";
  head["status"] = "pending";
  head["created_at"] = now;
  if (const auto* reason = input.if_contains("reason"); reason && !reason->is_null()) {
    if (!reason->is_string()) throw std::runtime_error("reason must be a string");
    head["reason"] = *reason;
  }

  const auto name = fmt::format("mcp/{}/{}", now.substr(0, 10), name_from(*string_member(input, "title")));
  const auto path = fmt::format("autoresearch/proposals/{}.md", name);
  const auto directory = Directory::open(data_directory).value();
  require(directory.make_directories(path.substr(0, path.rfind('/'))), path);
  require(directory.write(path, fmt::format("---\n{}---\n\n{}", json_to_yaml(head), *string_member(input, "content"))),
          path);
  return name;
}

}  // namespace agw::cli

#include "features/proposals/proposal_text.hpp"

#include "base/json/json_values.hpp"
#include "base/json/yaml.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_fence(std::string_view line) {
  return line.starts_with("---") && line.find_first_not_of(" \t\r", 3) == line.npos;
}

struct Parts {
  std::optional<std::string_view> head;  ///< no value if the text has no head
  std::string_view content;
  bool is_open = false;  ///< the head has no end
};

Parts parts_of(std::string_view text) {
  auto rest = text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
  if (!is_fence(take_line(rest))) return {.head = std::nullopt, .content = text};
  const auto head = rest;
  while (!rest.empty()) {
    const auto before = rest;
    if (!is_fence(take_line(rest))) continue;
    const auto size = static_cast<std::size_t>(before.data() - head.data());
    // An empty line after the head is not part of the content: the gateway writes one, and people usually do.
    if (auto after = rest; take_line(after).empty()) rest = after;
    return {.head = head.substr(0, size), .content = rest};
  }
  return {.head = head, .content = {}, .is_open = true};
}

std::optional<std::string> written_member(const json::object& head, std::string_view name) {
  auto text = text_or_json(head, name);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::optional<Timestamp> time_member(const json::object& head, std::string_view name) {
  const auto text = written_member(head, name);
  return text ? parse_iso8601(*text) : std::nullopt;
}

bool is_extension_target(std::string_view target) {
  return target.ends_with("/agent.yaml") || target.ends_with("/job.yaml") || target.starts_with("extensions/");
}

/// The type according to the target, for heads without one.
ProposalType type_of_target(std::string_view target) {
  if (target == "soul.md" || target.ends_with("/soul.md")) return ProposalType::soul;
  if (is_extension_target(target)) return ProposalType::extension;
  return target.starts_with("knowledge/") ? ProposalType::knowledge : ProposalType::file;
}

}  // namespace

ProposalText read_proposal_text(std::string_view text) {
  const auto parts = parts_of(text);
  if (parts.is_open) throw YamlError(1, "the head has no end: a line `---`");
  ProposalText read{.head = {}, .content = std::string(parts.content)};
  if (!parts.head) return read;
  auto head = yaml_to_json(*parts.head);
  if (head.is_null()) return read;
  if (!head.is_object()) throw YamlError(1, "the head must be a map of members, such as `title: …`");
  read.head = std::move(head.get_object());
  return read;
}

std::string write_proposal_text(const ProposalText& text) {
  return "---\n" + json_to_yaml(text.head) + "---\n\n" + text.content;
}

std::optional<std::string_view> proposal_head_of(std::string_view text) {
  const auto parts = parts_of(text);
  if (parts.is_open) return std::nullopt;
  return text.substr(0, text.size() - parts.content.size());
}

ProposalHead read_proposal_head(const json::object& head, const ProposalAddress& address) {
  ProposalHead read;
  read.title = written_member(head, "title").value_or(address.name.value_or(address.date));
  read.target = written_member(head, "target");
  read.reason = written_member(head, "reason");
  read.created_at = time_member(head, "created_at");
  read.decided_at = time_member(head, "decided_at");
  read.agent_id = written_member(head, "agent_id");
  if (const auto id = string_member(head, "made_from")) read.made_from = *id;
  read.type = from_text<ProposalType>(written_member(head, "type").value_or(""))
                  .value_or(type_of_target(read.target.value_or("")));
  read.status =
      from_text<ProposalStatus>(written_member(head, "status").value_or("")).value_or(ProposalStatus::pending);
  return read;
}

ProposalHead broken_proposal_head(std::string problem, const ProposalAddress& address) {
  auto head = read_proposal_head({}, address);
  head.problem = std::move(problem);
  return head;
}

}  // namespace agw

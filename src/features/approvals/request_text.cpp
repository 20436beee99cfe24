#include "features/approvals/request_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "base/text/ascii.hpp"
#include "features/approvals/exact_text.hpp"

namespace agw {

namespace {

constexpr int removed_colour = 31, added_colour = 32;
/// The length of longer texts is displayed, because their beginning scrolls off the screen.
constexpr std::size_t long_text = 400;

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> purposes{{{"Bash", "run a command"},
                                                                                 {"Write", "write a file"},
                                                                                 {"Edit", "change a file"},
                                                                                 {"WebFetch", "open an address"},
                                                                                 {"WebSearch", "search the web"}}};

std::string purpose_of(const std::string& tool) {
  const auto* known = std::ranges::find(purposes, tool, [](const auto& purpose) { return purpose.first; });
  return known == purposes.end() ? "use " + one_line(tool) : std::string(known->second);
}

std::string coloured(bool colours, int colour, const std::string& text) {
  return colours && colour != 0 ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : text;
}

int line_colour(std::string_view line, bool is_diff) {
  if (!is_diff) return 0;
  return line.starts_with('+') ? added_colour : line.starts_with('-') ? removed_colour : 0;
}

/// Prefixes each line with a bar. Adds the length of long texts.
std::string barred(std::string_view text, bool colours, bool is_diff = false) {
  const auto exact = exact_text(text);
  std::string_view rest = exact;
  std::string out;
  do {
    const auto line = take_line(rest);
    out += "  │ " + coloured(colours, line_colour(line, is_diff), std::string(line)) + '\n';
  } while (!rest.empty());
  if (text.size() > long_text) out += fmt::format("  ({} characters)\n", text.size());
  return out;
}

/// The members of the input that are not shown elsewhere.
json::object remaining_members(json::object input, bool has_diff, bool has_command) {
  if (has_diff) {
    for (const auto* name : {"path", "content", "old_string", "new_string"}) input.erase(name);
  }
  if (has_command) input.erase("command");
  return input;
}

std::string question_text(const json::object& request, bool colours) {
  const auto question = object_or_empty(request, "question");
  return barred(string_or_empty(question, "question"), colours);
}

std::string hosts_text(const std::string& text) {
  std::string out;
  for (const auto& [shown, real] : disguised_hosts(text)) {
    out += fmt::format("  {} leads to {}\n", exact_text(shown), printable(real));
  }
  return out;
}

std::string call_text(const json::object& request, bool colours) {
  const auto input = object_or_empty(request, "input");
  const auto target = string_or_empty(request, "target");
  const auto diff = string_member(request, "diff");
  const auto command =
      string_member(request, "tool") == "Bash" ? string_member(input, "command") : std::optional<std::string_view>();
  const auto others = remaining_members(input, diff.has_value(), command.has_value());
  std::string out;
  if (command) out += barred(*command, colours);
  if (!target.empty() && (!command || target != *command)) out += fmt::format("  concerns {}\n", exact_text(target));
  if (diff) out += barred(*diff, colours, true);
  if (!others.empty()) out += barred(to_json(others), colours);
  if (!diff) out += hosts_text(std::string(command.value_or(to_json(input))) + '\n' + target);
  if (const auto reason = string_or_empty(request, "reason"); !reason.empty())
    out += fmt::format("  ({})\n", one_line(reason));
  return out;
}

/// Returns an empty string if a person decided.
std::string_view reason_without_person(const json::object& decided) {
  const auto by = string_or_empty(decided, "by");
  if (by == "timeout") return "nobody answered in time";
  if (by == "stop") return "the answer was stopped";
  return by == "restart" ? "the gateway was stopped" : "";
}

std::string decision_text(const json::object& decided) {
  const auto decision = string_or_empty(decided, "decision");
  const auto scope = string_or_empty(decided, "scope");
  if (decision == "allow")
    return scope == "thread" ? "allowed in this thread" : scope == "agent" ? "always allowed" : "allowed once";
  if (decision.empty()) return "decided";
  if (decision == "deny") return "denied";
  return decision == "propose" ? "staged as a proposal" : "answered";
}

}  // namespace

std::string request_title(const json::object& request) {
  const auto agent = one_line(string_or_empty(request, "agent"));
  if (string_member(request, "kind") == "question") return agent + " asks you";
  return fmt::format("{} asks to {}", agent, purpose_of(string_or_empty(request, "tool")));
}

std::string request_text(const json::object& request, bool colours) {
  const auto title = fmt::format("[agw] {}:", request_title(request));
  const auto head = colours ? fmt::format("\x1b[1;7m{}\x1b[0m", title) : title;
  const bool is_question = string_member(request, "kind") == "question";
  return head + '\n' + (is_question ? question_text(request, colours) : call_text(request, colours));
}

std::string outcome_text(const json::object& decided) {
  const auto reason = reason_without_person(decided);
  return reason.empty() ? decision_text(decided) : std::string(reason);
}

std::string elsewhere_text(const json::object& decided) {
  const auto reason = reason_without_person(decided);
  return reason.empty() ? decision_text(decided) + " elsewhere" : std::string(reason);
}

}  // namespace agw

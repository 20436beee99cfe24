#include "cli/client/terminal_asker.hpp"

#include <unistd.h>

#include <chrono>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "base/text/ascii.hpp"
#include "base/text/numbers.hpp"
#include "cli/client/decision_line.hpp"
#include "cli/output/terminal.hpp"
#include "features/approvals/exact_text.hpp"
#include "features/approvals/request_text.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;

/// A key pressed this early may have been meant for the previous screen.
constexpr auto settle_time = 500ms;

/// The option whose number the line contains; nullopt for other lines.
std::optional<std::string> option_in(std::string_view line, const std::vector<std::string>& options) {
  const auto number = parse_number<std::size_t>(line).value_or(0);
  return number > 0 && number <= options.size() ? std::optional(options[number - 1]) : std::nullopt;
}

std::string field_text(std::string_view name, const json::object& member, bool is_required) {
  auto text = fmt::format("  {}", exact_text(string_member(member, "title").value_or(name)));
  if (const auto about = string_or_empty(member, "description"); !about.empty())
    text += fmt::format(" ({})", one_line(exact_text(about)));
  if (const auto* values = array_member(member, "enum")) text += ", one of " + exact_text(to_json(*values));
  if (string_member(member, "type") == "boolean") text += ", y or n";
  if (const auto* usual = member.if_contains("default")) text += fmt::format(" [{}]", exact_text(text_or_json(*usual)));
  return text + (is_required ? ": " : " (optional): ");
}

json::object declined() { return {{"decision", "deny"}}; }

}  // namespace

bool TerminalAsker::is_possible() { return terminal_at(STDIN_FILENO).present && terminal_at(STDERR_FILENO).present; }

Task<std::optional<json::object>> TerminalAsker::ask(json::object request, StopSource& over) {
  printer_.block(request_text(request, terminal_at(STDERR_FILENO).colours));
  if (co_await pause(over, settle_time) == WaitResult::stopped) co_return std::nullopt;
  TypedLines lines(loop_);
  const auto question = object_or_empty(request, "question");
  if (string_member(request, "kind") == "question") co_return co_await ask_question(question, lines, over);
  co_return co_await ask_permission(request, lines, over);
}

Task<std::optional<json::object>> TerminalAsker::ask_permission(const json::object& request, TypedLines& lines,
                                                                StopSource& over) {
  const auto pattern = string_member(request, "pattern");
  if (pattern) printer_.block(fmt::format("  (thread: {})\n", one_line(exact_text(*pattern))));
  for (;;) {
    printer_.block(choices_of(request) + ": ");
    const auto line = co_await lines.next(over);
    if (over.requested()) co_return std::nullopt;
    if (!line) co_return declined();
    if (auto decision = decision_in(*line, request)) co_return decision;
    if (!is_blank(*line)) printer_.block("Type one of the letters; after n, a reason for the agent.\n");
  }
}

Task<std::optional<json::object>> TerminalAsker::ask_question(const json::object& question, TypedLines& lines,
                                                              StopSource& over) {
  if (const auto* form = object_member(question, "form")) co_return co_await fill_in(*form, lines, over);
  const auto options = strings_of(question, "options");
  for (std::size_t i = 0; i < options.size(); ++i)
    printer_.block(fmt::format("  {}) {}\n", i + 1, one_line(exact_text(options[i]))));
  for (;;) {
    printer_.block(options.empty() ? "Your answer (Ctrl-D: none): " : "A number, or your own words (Ctrl-D: none): ");
    const auto line = co_await lines.next(over);
    if (over.requested()) co_return std::nullopt;
    if (!line) co_return declined();
    if (is_blank(*line)) continue;
    co_return json::object{{"answer", option_in(*line, options).value_or(*line)}};
  }
}

Task<std::optional<json::object>> TerminalAsker::fill_in(const json::object& form, TypedLines& lines,
                                                         StopSource& over) {
  const auto required = strings_of(form, "required");
  json::object answer;
  for (const auto& [name, described] : object_or_empty(form, "properties")) {
    const auto member = described.is_object() ? described.get_object() : json::object();
    const bool is_required = contains(required, std::string_view(name));
    for (bool is_done = false; !is_done;) {
      printer_.block(field_text(name, member, is_required));
      const auto line = co_await lines.next(over);
      if (over.requested()) co_return std::nullopt;
      if (!line) co_return declined();
      if (is_blank(*line)) {
        const auto* usual = member.if_contains("default");
        if (usual) answer[name] = *usual;
        is_done = usual || !is_required;
      } else if (auto value = form_value(*line, member)) {
        answer[name] = std::move(*value);
        is_done = true;
      }
    }
  }
  co_return json::object{{"answer", std::move(answer)}};
}

void TerminalAsker::show_decision(const json::object& decided) {
  printer_.block('\n' + fmt::format("({})\n", elsewhere_text(decided)));
}

}  // namespace agw::cli

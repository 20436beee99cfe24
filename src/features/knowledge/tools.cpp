#include <algorithm>
#include <array>
#include <ranges>

#include <fmt/format.h>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/json/json_values.hpp"
#include "features/knowledge/files.hpp"
#include "features/knowledge/service.hpp"
#include "features/threads/service.hpp"
#include "io/process/blocking.hpp"
#include "tools/opened_path.hpp"
#include "tools/tool.hpp"
#include "tools/tool_set.hpp"

namespace agw {

namespace {

constexpr auto search_schema = R"({
  "type": "object",
  "properties": {
    "query": {"type": "string", "minLength": 1, "description": "a question or words; \"quoted words\" stand together"},
    "limit": {"type": "integer", "minimum": 1, "description": "how many pages at most; default 5"}
  },
  "required": ["query"],
  "additionalProperties": false
})";

constexpr auto ingest_schema = R"({
  "type": "object",
  "properties": {
    "url": {"type": "string", "minLength": 1, "description": "a web page to keep"},
    "path": {"type": "string", "minLength": 1, "description": "a file to keep, of text"},
    "thread": {"type": "string", "minLength": 1, "description": "the id of one of your threads to keep, or `this`"},
    "title": {"type": "string", "description": "instead of the one that it has"}
  },
  "additionalProperties": false
})";

constexpr double usual_pages = 5;
constexpr double max_pages = 50;
constexpr int max_turns_kept = 1000;

// SearchKnowledge.

std::string shown(const KnowledgeHit& hit) {
  return fmt::format("## {} ({}, page {})\n{}\n", hit.title, hit.scope, hit.slug, hit.snippet);
}

Task<ToolOutcome> search(Knowledge& knowledge, const ToolCall& call) {
  const auto* limit = call.input.if_contains("limit");
  const auto count = std::min(limit ? limit->to_number<double>() : usual_pages, max_pages);
  const auto hits = co_await knowledge.search_for_agent({.question = std::string(call.input.at("query").as_string()),
                                                         .agent_name = call.run.agent_name,
                                                         .limit = static_cast<std::size_t>(count)});
  if (hits.empty()) co_return ToolOutcome{"No page matches."};
  std::string text;
  for (const auto& hit : hits) text += shown(hit);
  co_return ToolOutcome{std::move(text)};
}

// Ingest.

std::string requested_title(const ToolCall& call) { return string_or_empty(call.input, "title"); }

/// Parses the head that WebFetch puts before a page: `name: value` lines up to an empty one.
std::string take_page_head(std::string& text, std::string_view name) {
  const auto end = text.find("\n\n");
  if (end == text.npos) return {};
  const auto head = "\n" + text.substr(0, end);
  text.erase(0, end + 2);
  const auto begin = head.find(fmt::format("\n{}: ", name));
  if (begin == head.npos) return {};
  const auto value = head.substr(begin + name.size() + 3);
  return value.substr(0, value.find('\n'));
}

/// `https://example.org/docs/setup.html` becomes `example.org docs setup`.
std::string name_of_address(std::string_view address) {
  const auto scheme = address.find("://");
  if (scheme != address.npos) address.remove_prefix(scheme + 3);
  address = address.substr(0, address.find_first_of("?#"));
  std::string name(address.substr(0, address.ends_with(".html") ? address.size() - 5 : address.size()));
  std::ranges::replace_if(name, [](char c) { return c == '/' || c == '.'; }, ' ');
  return name + ".md";
}

Task<ToolOutcome> ingest_source(Knowledge& knowledge, NewSource source) {
  const auto made = co_await knowledge.ingest(std::move(source));
  if (made.slug.empty())
    co_return failed(fmt::format("kept as {}, which becomes no page: {}", made.path, made.problem));
  co_return ToolOutcome{fmt::format("Kept as {}; its page is {}.", made.path, made.slug)};
}

Task<ToolOutcome> ingest_page(Knowledge& knowledge, const ToolSet& tools, const ToolCall& call) {
  const auto url = std::string(call.input.at("url").as_string());
  auto page = co_await tools.find("WebFetch")->call(call);
  if (page.is_error) co_return page;
  auto title = take_page_head(page.output, "Title");
  if (!requested_title(call).empty()) title = requested_title(call);
  co_return co_await ingest_source(knowledge, {.agent_name = call.run.agent_name,
                                               .name = name_of_address(url),
                                               .title = std::move(title),
                                               .origin = url,
                                               .text = std::move(page.output)});
}

std::string text_of_thread(const std::vector<Turn>& newest_first) {
  std::string text;
  for (const auto& turn : newest_first | std::views::reverse) {
    if (turn.role == Role::tool) continue;
    text += fmt::format("**{}**, {}:\n\n{}\n\n", to_text(turn.role), to_iso8601(turn.created_at), turn.content);
  }
  return text;
}

Task<ToolOutcome> ingest_thread(Knowledge& knowledge, Threads& threads, const ToolCall& call) {
  const auto wanted = std::string(call.input.at("thread").as_string());
  const auto thread = co_await threads.require(wanted == "this" ? call.run.thread_id : wanted);
  // An agent must not store conversations of other agents.
  if (thread.agent_id != call.run.agent_id) throw thread_not_found();
  const auto turns = co_await threads.turns(thread.id, {.limit = {max_turns_kept}});
  const auto title = requested_title(call).empty() ? thread.title : requested_title(call);
  co_return co_await ingest_source(knowledge, {.agent_name = call.run.agent_name,
                                               .name = "thread " + title + ".md",
                                               .title = title,
                                               .origin = "thread " + thread.id,
                                               .text = text_of_thread(turns)});
}

/// The text of a file to store. Throws BadRequest if it cannot be stored.
std::string text_of_file(const OpenedPath& file) {
  const auto refuse = [&](std::string_view why) {
    throw BadRequest(fmt::format("{} cannot be kept: {}", file.path.string(), why));
  };
  const auto opened = open_file(file);
  // A second hard link may be the name of a private key.
  if (file.has_other_names) refuse("it has several names");
  auto text = read_opened(opened, max_knowledge_file_size);
  if (!text) refuse(to_string(text.error()));
  if (!is_text(*text)) refuse("it is no text");
  return std::move(*text);
}

Task<ToolOutcome> ingest_file(Knowledge& knowledge, BlockingPool& blocking, const ToolCall& call) {
  const auto path = std::string(call.input.at("path").as_string());
  auto file =
      co_await blocking.run([path, roots = call.run.roots] { return locate(absolute_path(path, roots), roots); });
  const auto permission = co_await call.permit(target_of(file));
  if (permission.verdict != Permission::Verdict::allowed) co_return refusal(permission);
  auto text = co_await blocking.run([file] { return text_of_file(file); });
  co_return co_await ingest_source(knowledge, {.agent_name = call.run.agent_name,
                                               .name = file.path.filename().string(),
                                               .title = requested_title(call),
                                               .origin = file.path.string(),
                                               .text = std::move(text)});
}

Task<ToolOutcome> ingest(Knowledge& knowledge, Threads& threads, BlockingPool& blocking, const ToolSet& tools,
                         const ToolCall& call) {
  auto permission = call.authorize({});
  const bool asks = permission.verdict == Permission::Verdict::ask;
  if (!asks && permission.verdict != Permission::Verdict::allowed) co_return failed(permission.reason);
  const auto given = std::ranges::count_if(std::array{"url", "path", "thread"},
                                           [&](const char* name) { return call.input.contains(name); });
  if (given != 1) co_return failed("say one of url, path and thread");
  if (call.input.contains("url")) co_return co_await ingest_page(knowledge, tools, call);
  if (call.input.contains("path")) co_return co_await ingest_file(knowledge, blocking, call);
  if (asks) permission = co_await call.permit({});
  if (permission.verdict != Permission::Verdict::allowed) co_return failed(permission.reason);
  co_return co_await ingest_thread(knowledge, threads, call);
}

}  // namespace

std::vector<Tool> knowledge_tools(Knowledge& knowledge, Threads& threads, BlockingPool& blocking,
                                  const ToolSet& tools) {
  std::vector<Tool> made;
  made.push_back({.description = {"SearchKnowledge",
                                  "Searches the knowledge pages that all agents share and your own. Gives those that "
                                  "match best, with a piece of their text; Read shows a page whole.",
                                  parse_json(search_schema).value()},
                  .call = [&knowledge](const ToolCall& call) { return search(knowledge, call); }});
  made.push_back(
      {.description = {"Ingest",
                       "Keeps a web page, a file or a conversation among your own knowledge, where SearchKnowledge "
                       "finds it from then on.",
                       parse_json(ingest_schema).value()},
       .effect = ToolEffect::writes,
       .authorizes_itself = true,
       .call = [&knowledge, &threads, &blocking, &tools](const ToolCall& call) {
         return ingest(knowledge, threads, blocking, tools, call);
       }});
  return made;
}

}  // namespace agw

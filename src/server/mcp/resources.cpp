#include "server/mcp/resources.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

#include "base/json/json_values.hpp"
#include "features/integrations/protocol.hpp"
#include "server/http/target.hpp"
#include "server/mcp/message.hpp"

namespace agw {

namespace {

constexpr std::string_view scheme = "agw://";
constexpr std::size_t page_size = 200;
constexpr std::string_view max_threads = "200", max_turns = "200";
constexpr std::string_view markdown = "text/markdown", as_json = "application/json";
constexpr std::string_view page_template = "agw://knowledge/{slug}", thread_template = "agw://threads/{id}",
                           proposal_template = "agw://proposals/{agent}/{date}",
                           nested_template = "agw://proposals/{agent}/{date}/{name}";
constexpr int missing = 404, malformed = 400;

std::string encoded_part(std::string_view text) { return boost::urls::encode(text, boost::urls::unreserved_chars); }

std::string uri_of(std::string_view kind, const std::vector<std::string>& parts) {
  auto uri = std::string(scheme) + std::string(kind);
  for (const auto& part : parts) uri += '/' + encoded_part(part);
  return uri;
}

/// Kind and decoded parts of a URI; empty if it is not one of the gateway's.
std::vector<std::string> parts_of(std::string_view uri) {
  if (!uri.starts_with(scheme)) return {};
  uri.remove_prefix(scheme.size());
  std::vector<std::string> parts;
  for (bool more = true; more;) {
    const auto slash = uri.find('/');
    const auto part = percent_decoded(uri.substr(0, slash));
    if (!part || part->empty()) return {};
    parts.push_back(*part);
    more = slash != uri.npos;
    if (more) uri.remove_prefix(slash + 1);
  }
  const auto& kind = parts.front();
  const bool known = ((kind == "knowledge" || kind == "threads") && parts.size() == 2) ||
                     (kind == "proposals" && (parts.size() == 3 || parts.size() == 4));
  return known ? parts : std::vector<std::string>();
}

json::object listed(std::string uri, std::string_view name, std::string_view title, std::string_view about,
                    std::string_view type) {
  json::object resource{{"uri", std::move(uri)}, {"name", name}, {"title", title}, {"mimeType", type}};
  if (!about.empty()) resource["description"] = about;
  return resource;
}

json::object listed_template(std::string_view uri, std::string_view name, std::string_view about,
                             std::string_view type) {
  return {{"uriTemplate", uri}, {"name", name}, {"title", name}, {"description", about}, {"mimeType", type}};
}

std::size_t offset_in(const json::object& params, std::size_t size) {
  const auto* cursor = params.if_contains("cursor");
  if (!cursor) return 0;
  const std::string text = cursor->is_string() ? std::string(cursor->get_string()) : "";
  std::size_t offset = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), offset);
  if (error != std::errc{} || end != text.data() + text.size() || offset > size)
    throw McpError(rpc_code::invalid_params, "unknown cursor");
  return offset;
}

void keep(std::set<std::string>& values, std::string value, const std::string& beginning) {
  if (value.starts_with(beginning)) values.insert(std::move(value));
}

bool agrees(const json::object& row, const json::object& known) {
  return std::ranges::all_of(known, [&](const auto& one) {
    return !row.contains(one.key()) || text_or_json(row, one.key()) == text_or_json(one.value());
  });
}

}  // namespace

std::string thread_uri(std::string_view id) { return uri_of("threads", {std::string(id)}); }

std::string proposal_uri(const json::object& proposal) {
  std::vector<std::string> parts{string_or_empty(proposal, "agent"), string_or_empty(proposal, "date")};
  if (const auto name = string_or_empty(proposal, "name"); !name.empty()) parts.push_back(name);
  return uri_of("proposals", parts);
}

bool is_page_uri(std::string_view uri) {
  const auto parts = parts_of(uri);
  return !parts.empty() && parts.front() == "knowledge";
}

bool is_resource_uri(std::string_view uri) { return !parts_of(uri).empty(); }

Task<json::array> Resources::rows(std::vector<std::string> segments,
                                  std::vector<std::pair<std::string, std::string>> parameters) const {
  auto value =
      co_await api_.ask({.method = "GET", .segments = std::move(segments), .parameters = std::move(parameters)});
  co_return value.is_array() ? std::move(value.get_array()) : json::array();
}

Task<json::array> Resources::list_all() const {
  json::array all;
  std::set<std::string> slugs;
  for (const auto& row : co_await rows({"knowledge", "pages"})) {
    const auto& page = row.as_object();
    const auto slug = string_or_empty(page, "slug");
    if (!slugs.insert(slug).second) continue;
    all.emplace_back(listed(uri_of("knowledge", {slug}), slug, string_or_empty(page, "title"),
                            string_or_empty(page, "summary"), markdown));
  }
  for (const auto& row : co_await rows({"proposals"})) {
    const auto& proposal = row.as_object();
    const auto uri = proposal_uri(proposal);
    all.emplace_back(listed(uri, uri.substr(scheme.size()), string_or_empty(proposal, "title"),
                            "A change that waits for a decision", as_json));
  }
  for (const auto& row : co_await rows({"threads"}, {{"limit", std::string(max_threads)}})) {
    const auto& thread = row.as_object();
    const auto id = string_or_empty(thread, "id");
    all.emplace_back(listed(thread_uri(id), "thread " + id, string_or_empty(thread, "title"), "", markdown));
  }
  co_return all;
}

Task<json::object> Resources::list(json::object params) const {
  auto all = co_await list_all();
  const auto first = offset_in(params, all.size());
  const auto last = std::min(all.size(), first + page_size);
  json::object result{{"resources", json::array(all.begin() + static_cast<std::ptrdiff_t>(first),
                                                all.begin() + static_cast<std::ptrdiff_t>(last))}};
  if (last < all.size()) result["nextCursor"] = std::to_string(last);
  co_return result;
}

json::array Resources::templates() {
  return {listed_template(page_template, "Knowledge page", "A page of the knowledge, in Markdown", markdown),
          listed_template(thread_template, "Thread", "The latest turns of a conversation", markdown),
          listed_template(proposal_template, "Proposal", "A change that an agent proposed", as_json),
          listed_template(nested_template, "Nested proposal", "A change that an agent proposed", as_json)};
}

/// The body of a GET; nullopt if there is no such record.
Task<std::optional<std::string>> Resources::body_of(std::vector<std::string> segments) const {
  auto response = co_await api_.call({.method = "GET", .segments = std::move(segments)});
  if (response.status == missing || response.status == malformed) co_return std::nullopt;
  if (!is_success(response)) throw ToolFailure(error_text(response), response.status);
  co_return std::move(response.body);
}

Task<std::optional<json::array>> Resources::read(std::string uri) const {
  const auto parts = parts_of(uri);
  if (parts.empty()) co_return std::nullopt;
  auto segments = parts;
  const bool is_page = parts.front() == "knowledge";
  if (is_page) segments.insert(segments.begin() + 1, "article");
  auto body = co_await body_of(std::move(segments));
  if (!body) co_return std::nullopt;
  std::string_view type = as_json;
  if (is_page) {
    const auto article = parse_json(*body, {.max_depth = max_own_json_depth}).value_or(json::object()).as_object();
    body = "# " + string_or_empty(article, "title") + "\n\n" + string_or_empty(article, "content");
    type = markdown;
  } else if (parts.front() == "threads") {
    body = co_await transcript(parts[1]);
    type = markdown;
  }
  co_return json::array{json::object{{"uri", uri}, {"mimeType", type}, {"text", to_utf8(*body)}}};
}

Task<std::string> Resources::transcript(std::string id) const {
  const auto thread = co_await api_.ask({.method = "GET", .segments = {"threads", id}});
  auto turns = co_await rows({"threads", id, "turns"}, {{"limit", std::string(max_turns)}});
  std::ranges::reverse(turns);
  auto text = "# " + string_or_empty(thread.as_object(), "title") + "\n";
  for (const auto& row : turns) {
    const auto& turn = row.as_object();
    text += fmt::format("\n## {} ({})\n\n{}\n", string_or_empty(turn, "role"), string_or_empty(turn, "created_at"),
                        string_or_empty(turn, "content"));
  }
  co_return text;
}

Task<std::optional<std::vector<std::string>>> Resources::complete(std::string uri_template, std::string variable,
                                                                  std::string value, json::object known) const {
  std::set<std::string> values;
  if (uri_template == page_template && variable == "slug") {
    for (const auto& row : co_await rows({"knowledge", "pages"}))
      keep(values, string_or_empty(row.as_object(), "slug"), value);
  } else if (uri_template == thread_template && variable == "id") {
    for (const auto& row : co_await rows({"threads"}, {{"limit", std::string(max_threads)}}))
      keep(values, string_or_empty(row.as_object(), "id"), value);
  } else if (uri_template == proposal_template || uri_template == nested_template) {
    for (const auto& row : co_await rows({"proposals"})) {
      const auto& proposal = row.as_object();
      const auto part = string_or_empty(proposal, variable);
      if (!part.empty() && agrees(proposal, known)) keep(values, part, value);
    }
  } else {
    co_return std::nullopt;
  }
  co_return std::vector(values.begin(), values.end());
}

Task<std::string> Resources::version_of(std::string uri) const {
  const auto parts = parts_of(uri);
  if (parts.size() != 2 || parts.front() != "knowledge") co_return std::string();
  const auto body = co_await body_of({"knowledge", "article", parts[1]});
  const auto article = body ? parse_json(*body, {.max_depth = max_own_json_depth}) : std::nullopt;
  if (!article || !article->is_object()) co_return std::string();
  co_return string_or_empty(article->get_object(), "updated_at") + string_or_empty(article->get_object(), "content");
}

}  // namespace agw

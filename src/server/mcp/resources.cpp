#include "server/mcp/resources.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

#include "base/json/json_values.hpp"
#include "base/text/numbers.hpp"
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
  const auto offset = parse_number<std::size_t>(text);
  if (!offset || *offset > size) throw McpError(rpc_code::invalid_params, "unknown cursor");
  return *offset;
}

/// The elements of a list that a route has returned.
json::array rows_in(const std::string& body) {
  auto value = parse_json(body, {.max_depth = max_own_json_depth});
  return value && value->is_array() ? std::move(value->get_array()) : json::array();
}

/// An article of `GET /knowledge/article`.
json::object article_in(const std::string& body) {
  auto value = parse_json(body, {.max_depth = max_own_json_depth});
  return value && value->is_object() ? std::move(value->get_object()) : json::object();
}

std::string page_text(const std::string& body) {
  const auto article = article_in(body);
  return "# " + string_or_empty(article, "title") + "\n\n" + string_or_empty(article, "content");
}

std::string transcript_text(const std::string& title, const std::string& turns_body) {
  auto turns = rows_in(turns_body);
  std::ranges::reverse(turns);
  auto text = "# " + title + "\n";
  for (const auto& row : turns) {
    const auto& turn = row.as_object();
    text += fmt::format("\n## {} ({})\n\n{}\n", string_or_empty(turn, "role"), string_or_empty(turn, "created_at"),
                        string_or_empty(turn, "content"));
  }
  return text;
}

bool agrees(const json::object& row, const json::object& known) {
  return std::ranges::all_of(known, [&](const auto& one) {
    return !row.contains(one.key()) || text_or_json(row, one.key()) == text_or_json(one.value());
  });
}

}  // namespace

json::array Resources::list_of(const Records& records) {
  json::array all;
  std::set<std::string> slugs;
  for (const auto& row : rows_in(records.pages)) {
    const auto& page = row.as_object();
    const auto slug = string_or_empty(page, "slug");
    if (!slugs.insert(slug).second) continue;
    all.emplace_back(listed(uri_of("knowledge", {slug}), slug, string_or_empty(page, "title"),
                            string_or_empty(page, "summary"), markdown));
  }
  for (const auto& row : rows_in(records.proposals)) {
    const auto& proposal = row.as_object();
    const auto uri = proposal_uri(proposal);
    all.emplace_back(listed(uri, uri.substr(scheme.size()), string_or_empty(proposal, "title"),
                            "A change that waits for a decision", as_json));
  }
  for (const auto& row : rows_in(records.threads)) {
    const auto& thread = row.as_object();
    const auto id = string_or_empty(thread, "id");
    all.emplace_back(listed(thread_uri(id), "thread " + id, string_or_empty(thread, "title"), "", markdown));
  }
  return all;
}

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

Task<std::string> Resources::rows(std::vector<std::string> segments,
                                  std::vector<std::pair<std::string, std::string>> parameters) const {
  return api_.text({.method = "GET", .segments = std::move(segments), .parameters = std::move(parameters)});
}

Task<Resources::Records> Resources::records() const {
  Records records;
  records.pages = co_await rows({"knowledge", "pages"});
  records.proposals = co_await rows({"proposals"});
  records.threads = co_await rows({"threads"}, {{"limit", std::string(max_threads)}});
  co_return records;
}

Task<json::object> Resources::list(json::object params) const {
  const auto records = co_await this->records();
  const auto size = records.pages.size() + records.proposals.size() + records.threads.size();
  co_return co_await api_.blocking().run_if(size > large_mcp_text, [&] {
    const auto all = list_of(records);
    const auto first = offset_in(params, all.size());
    const auto last = std::min(all.size(), first + page_size);
    json::object result{{"resources", json::array(all.begin() + static_cast<std::ptrdiff_t>(first),
                                                  all.begin() + static_cast<std::ptrdiff_t>(last))}};
    if (last < all.size()) result["nextCursor"] = std::to_string(last);
    return result;
  });
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
  const auto& kind = parts.front();
  if (kind == "knowledge") segments.insert(segments.begin() + 1, "article");
  auto body = co_await body_of(std::move(segments));
  if (!body) co_return std::nullopt;
  std::string title;
  if (kind == "threads") {
    const auto thread = parse_json(*body, {.max_depth = max_own_json_depth});
    title = string_or_empty(thread->as_object(), "title");
    body = co_await rows({"threads", parts[1], "turns"}, {{"limit", std::string(max_turns)}});
  }
  co_return co_await api_.blocking().run_if(body->size() > large_mcp_text, [&] {
    if (kind == "knowledge") body = page_text(*body);
    if (kind == "threads") body = transcript_text(title, *body);
    const auto type = kind == "proposals" ? as_json : markdown;
    return std::optional(json::array{json::object{{"uri", uri}, {"mimeType", type}, {"text", to_utf8(*body)}}});
  });
}

Task<std::optional<std::vector<std::string>>> Resources::complete(std::string uri_template, std::string variable,
                                                                  std::string value, json::object known) const {
  std::string body;
  if (uri_template == page_template && variable == "slug") {
    known.clear();
    body = co_await rows({"knowledge", "pages"});
  } else if (uri_template == thread_template && variable == "id") {
    known.clear();
    body = co_await rows({"threads"}, {{"limit", std::string(max_threads)}});
  } else if (uri_template == proposal_template || uri_template == nested_template) {
    body = co_await rows({"proposals"});
  } else {
    co_return std::nullopt;
  }
  co_return co_await api_.blocking().run_if(body.size() > large_mcp_text, [&] {
    std::set<std::string> values;
    for (const auto& row : rows_in(body)) {
      auto part = string_or_empty(row.as_object(), variable);
      const bool fits = !part.empty() && part.starts_with(value) && agrees(row.as_object(), known);
      if (fits) values.insert(std::move(part));
    }
    return std::optional(std::vector(values.begin(), values.end()));
  });
}

Task<std::string> Resources::version_of(std::string uri) const {
  const auto parts = parts_of(uri);
  if (parts.size() != 2 || parts.front() != "knowledge") co_return std::string();
  const auto body = co_await body_of({"knowledge", "article", parts[1]});
  if (!body) co_return std::string();
  co_return co_await api_.blocking().run_if(body->size() > large_mcp_text, [&body] {
    const auto article = article_in(*body);
    return string_or_empty(article, "updated_at") + string_or_empty(article, "content");
  });
}

}  // namespace agw

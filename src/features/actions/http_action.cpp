#include <algorithm>

#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/predicate.hpp>

#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "features/actions/kinds.hpp"
#include "features/actions/placeholders.hpp"

namespace agw {

namespace {

constexpr std::size_t max_response_bytes = 4 * 1024 * 1024;

/// Thrown if the request cannot be made from the input.
struct CannotAsk {
  std::string why;
};

std::string method_of(const Extension& action) {
  const auto& members = action.definition.members();
  auto method = boost::to_upper_copy(string_or_empty(members, "method"));
  if (method.empty()) method = members.contains("body") ? "POST" : "GET";
  const bool is_word = std::ranges::all_of(method, is_upper);
  if (!is_word || method == "CONNECT" || method == "TRACE") throw CannotAsk{"the action has no usable method"};
  return method;
}

/// Encodes a path segment or query value. Dot segments would change the path.
std::string url_piece(const json::object& input, const std::string& name) {
  const auto text = text_or_json(input, name);
  if (text == "." || text == "..") throw CannotAsk{fmt::format("{} must not be {}", name, text)};
  return percent_encode(text);
}

/// Returns the index at which the path of a URL begins.
std::size_t end_of_origin(std::string_view url) {
  const auto authority = url.find("://");
  const auto begin = authority == url.npos ? 0 : authority + 3;
  return std::min(url.find_first_of("/?#", begin), url.size());
}

WebUrl url_of(const std::string& form, const json::object& input) {
  if (form.substr(0, end_of_origin(form)).find("{{") != std::string::npos) {
    throw CannotAsk{"the url of the action has a placeholder in its scheme, host or port, which no input may change"};
  }
  const auto text = filled(form, [&](const std::string& name) { return url_piece(input, name); });
  const auto url = WebUrl::parse(text);
  if (!url) throw CannotAsk{"the url of the action is no http or https address"};
  return *url;
}

/// Adds the members of the input that the URL does not use to its query.
WebUrl with_query(const WebUrl& url, const std::string& form, const json::object& input) {
  const auto used = placeholders_in(form);
  std::string text = url.text();
  for (const auto& [key, value] : input) {
    if (used.contains(std::string(key)) || value.is_null()) continue;
    text += text.find('?') == std::string::npos ? '?' : '&';
    text += percent_encode(key) + "=" + percent_encode(text_or_json(input, key));
  }
  const auto made = WebUrl::parse(text);
  if (!made) throw CannotAsk{"the input is too long for a query"};
  return *made;
}

std::vector<HttpHeader> headers_of(const Extension& action, const json::object& input, const ExpandSecrets& expand) {
  std::vector<HttpHeader> headers;
  const auto* given = action.definition.members().if_contains("headers");
  if (!given || !given->is_object()) return headers;
  for (const auto& [name, form] : given->get_object()) {
    if (!form.is_string()) continue;
    auto value = filled(expand(form.get_string()), [&](const auto& key) { return text_or_json(input, key); });
    if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      throw CannotAsk{fmt::format("the header {} must not hold line breaks", std::string_view(name))};
    }
    headers.push_back({std::string(name), std::move(value)});
  }
  return headers;
}

bool has_content_type(const std::vector<HttpHeader>& headers) {
  return std::ranges::any_of(headers, [](const auto& header) { return boost::iequals(header.name, "content-type"); });
}

bool content_type_says(const std::vector<HttpHeader>& headers, const char* word) {
  return std::ranges::any_of(headers, [word](const auto& header) {
    return boost::iequals(header.name, "content-type") && boost::icontains(header.value, word);
  });
}

/// Parses a text body as JSON, unless it has another Content-Type. A placeholder may be a whole value.
std::optional<json::value> json_form(const json::value& form, const std::vector<HttpHeader>& headers) {
  if (!form.is_string()) return form;
  const std::string_view text(form.get_string());
  auto parsed = parse_json(text);
  if (!parsed && (!has_content_type(headers) || content_type_says(headers, "json"))) {
    parsed = parse_json(with_quoted_placeholders(text));
  }
  return parsed;
}

/// Inserts input into JSON as values, so that it cannot end the string around it.
void set_body(WebRequest& request, const json::value& form, const json::object& input) {
  const auto parsed = json_form(form, request.origin_headers);
  const bool is_json = parsed && (parsed->is_object() || parsed->is_array());
  if (is_json) {
    request.body = to_json(filled_json(*parsed, input));
  } else {
    const bool encodes = content_type_says(request.origin_headers, "x-www-form-urlencoded");
    request.body = filled(form.get_string(), [&](const auto& name) {
      const auto text = text_or_json(input, name);
      return encodes ? percent_encode(text) : text;
    });
  }
  if (has_content_type(request.origin_headers)) return;
  request.headers.push_back({"Content-Type", is_json ? "application/json" : "text/plain; charset=utf-8"});
}

WebRequest request_of(const Extension& action, const json::object& input, const ExpandSecrets& expand) {
  const auto form = expand(string_or_empty(action.definition.members(), "url"));
  WebRequest request{.url = url_of(form, input),
                     .method = method_of(action),
                     .origin_headers = headers_of(action, input, expand),
                     .max_body_bytes = max_response_bytes,
                     .truncate_body = true,
                     .limit = std::chrono::seconds(60)};
  const auto* body = action.definition.members().if_contains("body");
  if (body && !body->is_null()) {
    set_body(request, *body, input);
  } else if (request.method == "GET" || request.method == "HEAD" || request.method == "DELETE") {
    request.url = with_query(request.url, form, input);
  } else {
    set_body(request, json::object(), {});
    request.body = to_json(input);
  }
  if (action.source == Source::user) {
    request.may_be_private = [host = request.url.host()](const WebUrl& url) { return url.host() == host; };
  }
  return request;
}

}  // namespace

std::variant<WebRequest, ActionProblem> http_action_request(const Extension& action, const json::object& input,
                                                            const ExpandSecrets& expand) {
  try {
    return request_of(action, input, expand);
  } catch (const CannotAsk& problem) {
    return ActionProblem{problem.why};
  }
}

}  // namespace agw

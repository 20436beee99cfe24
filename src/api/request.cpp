#include "api/request.hpp"

#include <algorithm>

#include "api/refusals.hpp"
#include "api/route.hpp"
#include "base/async/assert.hpp"

namespace agw {

namespace {

/// The index of the segment `:name` in a route's path: 1 for `id` in `/threads/:id/turns`.
std::optional<std::size_t> place_of(std::string_view name, std::string_view path) {
  for (std::size_t place = 0; !path.empty(); ++place) {
    path.remove_prefix(1);
    const auto segment = path.substr(0, path.find('/'));
    if (segment.starts_with(':') && segment.substr(1) == name) return place;
    path.remove_prefix(segment.size());
  }
  return std::nullopt;
}

json::object& object_in(std::optional<json::value>& read) {
  if (!read) throw BadRequest("Invalid JSON");
  if (!read->is_object()) throw BadRequest("Request body must be an object");
  return read->get_object();
}

void fill(const json::object& object, const Description& description, void* value) {
  Problems problems;
  read_described(object, description, value, "", problems);
  if (!problems.empty()) throw BadRequest(problems.front().message);
}

}  // namespace

std::string_view to_text(Method method) {
  switch (method) {
    case Method::get:
      return "GET";
    case Method::post:
      return "POST";
    case Method::put:
      return "PUT";
    case Method::patch:
      return "PATCH";
    case Method::remove:
      return "DELETE";
    case Method::any:
      return "*";
  }
  return {};
}

const std::string& Request::path(std::string_view name) const {
  if (const auto place = place_of(name, route->path)) return segments.at(*place);
  throw InternalError("the route " + route->path + " has no :" + std::string(name));
}

std::vector<std::string> Request::rest() const {
  const auto fixed = std::min(std::ranges::count(route->path, '/') - 1, std::ssize(segments));
  return {segments.begin() + fixed, segments.end()};
}

std::optional<std::string_view> Request::header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_case_name) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> Request::parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value.empty() ? std::nullopt : std::optional<std::string_view>(value);
  }
  return std::nullopt;
}

json::object Request::body_object() {
  if (content.empty()) throw body_required();
  if (const auto read = std::exchange(parsed_content, nullptr)) return std::move(object_in(*read));
  auto read = parse_json(content);
  return std::move(object_in(read));
}

int Request::success_status() const { return route->status; }

void Request::fill_query(const Description& description, void* value) const {
  Problems problems;
  read_query([&](std::string_view name) { return parameter(name); }, description, value, problems);
  if (!problems.empty()) throw BadRequest(problems.front().message);
}

void Request::fill_body(const Description& description, void* value) {
  // A body parsed in advance is large; its deleter destroys it on another thread.
  if (const auto read = std::exchange(parsed_content, nullptr)) return fill(object_in(*read), description, value);
  fill(body_object(), description, value);
}

}  // namespace agw

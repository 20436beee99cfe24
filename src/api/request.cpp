#include "api/request.hpp"

#include <algorithm>

#include "api/route.hpp"

namespace agw {

namespace {

/// The segments of a route's path, as it is declared: `threads`, `:id`, `turns`.
std::vector<std::string_view> declared_segments(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto end = std::min(path.find('/'), path.size());
    segments.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return segments;
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
  const auto declared = declared_segments(route->path);
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (declared[i].starts_with(':') && declared[i].substr(1) == name) return segments.at(i);
  }
  throw std::logic_error("the route " + route->path + " has no :" + std::string(name));
}

std::vector<std::string> Request::rest() const {
  const auto fixed = declared_segments(route->path).size() - 1;
  return {segments.begin() + static_cast<std::ptrdiff_t>(std::min(fixed, segments.size())), segments.end()};
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

json::object Request::body_object() const {
  if (content.empty()) {
    throw BadRequest("Request body required");
  }
  auto value = parse_json(content);
  if (!value) throw BadRequest("Invalid JSON");
  if (!value->is_object()) throw BadRequest("Request body must be an object");
  return std::move(value->get_object());
}

void Request::fill_query(const Description& description, void* value) const {
  Problems problems;
  read_query([&](std::string_view name) { return parameter(name); }, description, value, problems);
  if (!problems.empty()) throw BadRequest(problems.front().message);
}

void Request::fill_body(const json::object& object, const Description& description, void* value) const {
  Problems problems;
  read_described(object, description, value, "", problems);
  if (!problems.empty()) throw BadRequest(problems.front().message);
}

}  // namespace agw

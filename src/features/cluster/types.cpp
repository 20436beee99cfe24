#include "features/cluster/types.hpp"

#include "base/json/json_values.hpp"

namespace agw {

namespace {

json::array array_of(const Fields& pairs) {
  json::array all;
  for (const auto& [name, value] : pairs) all.push_back(json::array{name, value});
  return all;
}

Fields pairs_of(const json::object& head, std::string_view member) {
  Fields pairs;
  if (const auto* all = array_member(head, member)) {
    for (const auto& each : *all) {
      const auto texts = each.is_array() ? strings_of(each.get_array()) : std::vector<std::string>();
      if (texts.size() == 2) pairs.emplace_back(texts[0], texts[1]);
    }
  }
  return pairs;
}

}  // namespace

json::object head_of(const PassedRequest& request) {
  json::array segments;
  for (const auto& segment : request.segments) segments.emplace_back(segment);
  return {{"method", request.method},
          {"path", request.path},
          {"segments", std::move(segments)},
          {"parameters", array_of(request.parameters)},
          {"headers", array_of(request.headers)},
          {"host", request.host}};
}

PassedRequest passed_request(const json::object& head, std::string content) {
  return {.method = string_or_empty(head, "method"),
          .path = string_or_empty(head, "path"),
          .segments = strings_of(head, "segments"),
          .parameters = pairs_of(head, "parameters"),
          .headers = pairs_of(head, "headers"),
          .host = string_or_empty(head, "host"),
          .content = std::move(content)};
}

json::object head_of(const Response& response) {
  return {{"status", response.status},
          {"hasContent", !response.content_type.empty()},
          {"headers", array_of(response.headers)}};
}

Response passed_response(const json::object& head, std::string body) {
  Response response{.status = static_cast<int>(head.at("status").as_int64()),
                    .body = std::move(body),
                    .headers = pairs_of(head, "headers")};
  if (!is_true(head, "hasContent")) response.content_type = {};
  return response;
}

}  // namespace agw

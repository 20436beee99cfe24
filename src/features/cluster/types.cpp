#include "features/cluster/types.hpp"

#include "base/json/json_values.hpp"

namespace agw {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

json::array array_of(const Pairs& pairs) {
  json::array all;
  for (const auto& [name, value] : pairs) all.push_back(json::array{name, value});
  return all;
}

Pairs pairs_of(const json::object& head, std::string_view member) {
  Pairs pairs;
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

}  // namespace agw

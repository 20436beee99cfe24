#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/described.hpp"

namespace agw {

inline constexpr std::string_view json_content_type = "application/json; charset=utf-8";

/// Header fields in order.
using Fields = std::vector<std::pair<std::string, std::string>>;

/// What a handler answers. The headers that every response carries are added by the server.
struct Answer {
  int status = 200;
  std::string body;
  std::string_view content_type = json_content_type;  ///< a literal; none where there is no body
  Fields headers;
  bool close = false;  ///< the connection is closed after it

  /// A described struct or a list of them as JSON.
  template <class T>
  static Answer of(const T& value, int status = 200) {
    Answer answer{.status = status};
    answer.body.reserve(512);  // Most records take less, and their text is not moved as it grows.
    write_json(answer.body, value);
    return answer;
  }

  /// The client is to look at `location`, for this time.
  static Answer redirect(std::string location) {
    return {.status = 302, .headers = {{"Location", std::move(location)}}};
  }

  static Answer no_content() { return {.status = 204, .content_type = {}}; }
};

}  // namespace agw

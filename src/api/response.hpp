#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agw {

inline constexpr std::string_view json_content_type = "application/json; charset=utf-8";

/// Header fields in order.
using Fields = std::vector<std::pair<std::string, std::string>>;

/// A handler's response. The server adds the common headers.
struct Response {
  int status = 200;
  std::string body;
  std::string_view content_type = json_content_type;  ///< a literal; empty if there is no body
  Fields headers;
  bool close = false;  ///< close the connection after this response

  /// A temporary redirect.
  static Response redirect(std::string location) {
    return {.status = 302, .headers = {{"Location", std::move(location)}}};
  }

  static Response no_content() { return {.status = 204, .content_type = {}}; }
};

/// The Content-Type for a file name's extension, ignoring case; `application/octet-stream` if unknown.
std::string_view content_type_of(std::string_view path);

}  // namespace agw

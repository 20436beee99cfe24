#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agw {

inline constexpr std::string_view json_content_type = "application/json; charset=utf-8";

/// Header fields in order.
using Fields = std::vector<std::pair<std::string, std::string>>;

/// A handler's response. The server adds the headers that every response has.
struct Response {
  int status = 200;
  std::string body;
  std::string_view content_type = json_content_type;  ///< a literal; empty without a body
  Fields headers;
  bool close = false;  ///< close the connection after it

  /// A temporary redirect.
  static Response redirect(std::string location) {
    return {.status = 302, .headers = {{"Location", std::move(location)}}};
  }

  static Response no_content() { return {.status = 204, .content_type = {}}; }
};

/// The Content-Type for the extension of a file name, in any case of letters; `application/octet-stream` if unknown.
std::string_view content_type_of(std::string_view path);

}  // namespace agw

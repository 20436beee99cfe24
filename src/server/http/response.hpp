#pragma once

#include <string>
#include <string_view>

#include "api/client_errors.hpp"
#include "api/error.hpp"
#include "api/proxy_stream.hpp"
#include "api/response.hpp"

namespace agw {

/// How to write a response.
struct ResponseOptions {
  bool without_body = false;          ///< for HEAD: all headers, no body
  bool close = false;                 ///< adds `Connection: close`
  std::string_view cors_origin = {};  ///< adds the CORS headers for this origin
  const Fields* fields = nullptr;     ///< further headers, unless the response has them
};

/// Whether responses with its status have a body (RFC 9110, section 6.4.1).
bool has_content(const Response& response);

/// Appends `response` in HTTP/1.1, including the headers common to all responses.
void write_response(std::string& out, const Response& response, const ResponseOptions& options);

/// How the end of a body is indicated.
enum class Framing { none, length, chunked, until_close };

/// Appends the head of a streamed response.
void write_head(std::string& out, const ResponseHead& head, Framing framing, const ResponseOptions& options);

/// `{"error": …}` with the additional members of the error; a 401 with `WWW-Authenticate`.
Response error_response(const ApiError& error);
Response error_response(int status, std::string_view error);

/// The error in the format of the protocol.
Response error_response(const ApiError& error, Protocol protocol);
/// Converts an error response from the gateway's own format to that of the protocol.
Response in_protocol(Response response, Protocol protocol);

/// The reason phrase of a status, such as `Not Found`.
std::string_view reason_phrase(int status);

}  // namespace agw

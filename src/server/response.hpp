#pragma once

#include <string>
#include <string_view>

#include "api/answer.hpp"
#include "api/error.hpp"
#include "api/exchange.hpp"

namespace agw {

/// How a response goes out, beside what the handler answered.
struct ResponseOptions {
  bool without_body = false;          ///< the answer to a HEAD: all fields, no body
  bool close = false;                 ///< the connection ends after it
  std::string_view cors_origin = {};  ///< adds the CORS fields for this origin
  const Fields* fields = nullptr;     ///< further ones
};

/// Appends `answer` as an HTTP/1.1 response, with the fields that every response carries.
void write_response(std::string& out, const Answer& answer, const ResponseOptions& options);

/// How the end of a body is told.
enum class Framing { none, length, chunked, until_close };

/// Appends what stands before the body of an answer that goes out piece by piece.
void write_head(std::string& out, const AnswerHead& head, Framing framing, const ResponseOptions& options);

/// `{"error": …}` with the error's further members.
Answer error_answer(const ApiError& error);
Answer error_answer(int status, std::string_view error);

/// The phrase that goes with a status, such as `Not Found`.
std::string_view reason_phrase(int status);

}  // namespace agw

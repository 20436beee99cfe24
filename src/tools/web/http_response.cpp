#include "tools/web/http_response.hpp"

#include <fmt/format.h>
#include <boost/algorithm/string/predicate.hpp>

#include "tools/charset.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

bool declares_text(std::string_view content_type) {
  return boost::istarts_with(content_type, "text/") || declares_charset(content_type);
}

std::string answer_text(const WebResponse& response) {
  const auto type = response.head.header("content-type").value_or("");
  std::string text;
  const auto status = response.head.status;
  if (status < 200 || status > 299 || response.body.empty()) text = fmt::format("status {}\n", status);
  if (const auto location = response.head.header("location")) text += fmt::format("location: {}\n", to_utf8(*location));
  const bool is_foreign = !response.truncated && !is_utf8(response.body);
  if (is_foreign && !declares_text(type)) {
    return text + fmt::format("({} bytes of {}, which are no text)", response.body.size(),
                              type.empty() ? "unknown type" : to_utf8(type));
  }
  text += truncate_middle(is_foreign ? text_to_utf8(response.body, type) : to_utf8(response.body));
  if (response.truncated) text += "\n(The rest of the answer is missing: it is too long.)";
  return text;
}

}  // namespace

ToolOutcome http_response(const WebResponse& response) {
  if (!response.problem.empty()) return failed(response.problem);
  return {.output = answer_text(response), .is_error = response.head.status >= 400};
}

}  // namespace agw

#include "tools/http_answer.hpp"

#include <fmt/format.h>
#include <boost/algorithm/string/predicate.hpp>

#include "tools/charset.hpp"
#include "tools/failed.hpp"
#include "tools/text_limit.hpp"

namespace agw {

namespace {

bool says_to_be_text(std::string_view content_type) {
  return boost::istarts_with(content_type, "text/") || names_charset(content_type);
}

std::string answer_text(const WebAnswer& answer) {
  const auto type = answer.head.header("content-type").value_or("");
  std::string text;
  const auto status = answer.head.status;
  if (status < 200 || status > 299 || answer.body.empty()) text = fmt::format("status {}\n", status);
  if (const auto location = answer.head.header("location")) text += fmt::format("location: {}\n", to_utf8(*location));
  const bool is_foreign = !answer.cut && !is_utf8(answer.body);
  if (is_foreign && !says_to_be_text(type)) {
    return text + fmt::format("({} bytes of {}, which are no text)", answer.body.size(),
                              type.empty() ? "unknown type" : to_utf8(type));
  }
  text += limited(is_foreign ? text_to_utf8(answer.body, type) : to_utf8(answer.body));
  if (answer.cut) text += "\n(The rest of the answer is missing: it is too long.)";
  return text;
}

}  // namespace

ToolOutcome http_answer(const WebAnswer& answer) {
  if (!answer.problem.empty()) return failed(answer.problem);
  return {.output = answer_text(answer), .is_error = answer.head.status >= 400};
}

}  // namespace agw

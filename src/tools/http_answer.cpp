#include "tools/http_answer.hpp"

#include <fmt/format.h>

#include "tools/text_limit.hpp"

namespace agw {

namespace {

std::string answer_text(const WebAnswer& answer) {
  std::string text;
  const auto status = answer.head.status;
  if (status < 200 || status > 299 || answer.body.empty()) text = fmt::format("status {}\n", status);
  if (const auto location = answer.head.header("location")) text += fmt::format("location: {}\n", to_utf8(*location));
  if (!answer.cut && !is_utf8(answer.body)) {
    return text + fmt::format("({} bytes of {}, which are no text)", answer.body.size(),
                              to_utf8(answer.head.header("content-type").value_or("unknown type")));
  }
  text += limited(to_utf8(answer.body));
  if (answer.cut) text += "\n(The rest of the answer is missing: it is too long.)";
  return text;
}

}  // namespace

ToolOutcome http_answer(const WebAnswer& answer) {
  if (!answer.problem.empty()) return {.output = answer.problem, .is_error = true};
  return {.output = answer_text(answer), .is_error = answer.head.status >= 400};
}

}  // namespace agw

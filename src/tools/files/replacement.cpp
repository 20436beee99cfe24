#include "tools/files/replacement.hpp"

#include <fmt/format.h>

#include "api/error.hpp"

namespace agw {

ReplaceResult replace_in(std::string_view text, const Replacement& wanted) {
  if (wanted.old_string.empty()) throw BadRequest("old_string is empty; use Write to make a file");
  if (wanted.old_string == wanted.new_string) throw BadRequest("old_string and new_string are the same");
  ReplaceResult replaced;
  std::size_t from = 0;
  for (auto at = text.find(wanted.old_string); at != text.npos; at = text.find(wanted.old_string, from)) {
    replaced.text += text.substr(from, at - from);
    replaced.text += wanted.new_string;
    from = at + wanted.old_string.size();
    ++replaced.count;
  }
  replaced.text += text.substr(from);
  if (replaced.count == 0)
    throw BadRequest("old_string was not found: it must match the file exactly, including spaces and line ends");
  if (replaced.count > 1 && !wanted.all) {
    throw BadRequest(fmt::format(
        "old_string was found {} times: include more of the surrounding text, or set replace_all", replaced.count));
  }
  return replaced;
}

}  // namespace agw

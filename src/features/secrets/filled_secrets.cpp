#include "features/secrets/filled_secrets.hpp"

#include <algorithm>
#include <utility>

#include <boost/algorithm/string/replace.hpp>

#include "io/web_url.hpp"

namespace agw {

namespace {

constexpr auto mark = "[secret]";
constexpr std::size_t shortest_line = 6;

}  // namespace

void FilledSecrets::note(const std::string& value) {
  hide(value);
  hide(percent_encode(value));
  if (value.find('\n') == std::string::npos) return;
  // Of a value of several lines a single one is quoted as well.
  for (std::string_view rest = value; !rest.empty();) {
    const auto end = std::min(rest.find_first_of("\r\n"), rest.size());
    if (end >= shortest_line) hide(std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

std::string FilledSecrets::hidden_in(std::string_view text) const {
  std::string hidden(text);
  for (const auto& form : forms_) boost::ireplace_all(hidden, form, mark);
  return hidden;
}

void FilledSecrets::hide(std::string form) {
  if (form.empty() || std::ranges::find(forms_, form) != forms_.end()) return;
  const auto at = std::ranges::find_if(forms_, [&](const auto& other) { return other.size() < form.size(); });
  forms_.insert(at, std::move(form));
}

}  // namespace agw

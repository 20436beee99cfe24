#include "features/secrets/filled_secrets.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/text/ascii.hpp"
#include "io/http/web_url.hpp"

namespace agw {

namespace {

constexpr auto mark = "[secret]";
constexpr std::size_t min_line_length = 6;
constexpr std::size_t min_length_in_responses = 6;

}  // namespace

void FilledSecrets::add(const std::string& value) {
  hide(value);
  hide(percent_encode(value));
  if (value.find('\n') == std::string::npos) return;
  // Programs may quote a single line of a value; many also end a line at a lone carriage return.
  for (std::string_view rest = value; !rest.empty();) {
    const auto end = std::min(rest.find_first_of("\r\n"), rest.size());
    if (end >= min_line_length) hide(std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

std::string FilledSecrets::hidden_in(std::string_view text) const { return hidden_until(text, text.size()); }

std::string FilledSecrets::hidden_in_response(std::string_view text) const {
  return hidden_until(text, text.size(), min_length_in_responses);
}

std::string FilledSecrets::hidden_in_cut(std::string_view text) const {
  const auto longest = forms_.empty() ? 1 : forms_.front().size();
  return hidden_until(text, text.size() - std::min(text.size(), longest - 1));
}

/// Returns the first `end` bytes with secrets hidden. In one pass, so that a secret that starts inside another is
/// hidden completely.
std::string FilledSecrets::hidden_until(std::string_view text, std::size_t end, std::size_t shortest) const {
  AGW_ASSERT(end <= text.size());
  const auto lowered = ascii_lower_case(text);
  const auto is_there = [&](const auto& form) { return form.size() >= shortest && lowered.find(form) != lowered.npos; };
  if (std::ranges::none_of(forms_, is_there)) return std::string(text.substr(0, end));
  std::string shown;
  std::size_t hidden_to = 0;
  for (std::size_t at = 0; at < end; ++at) {
    const auto rest = std::string_view(lowered).substr(at);
    const auto form = std::ranges::find_if(
        forms_, [&](const auto& each) { return each.size() >= shortest && rest.starts_with(each); });
    if (form != forms_.end()) {
      if (at >= hidden_to) shown += mark;
      hidden_to = std::max(hidden_to, at + form->size());
    }
    if (at >= hidden_to) shown += text[at];
  }
  return shown;
}

void FilledSecrets::hide(std::string form) {
  form = ascii_lower_case(form);
  if (form.empty() || contains(forms_, form)) return;
  const auto at = std::ranges::find_if(forms_, [&](const auto& other) { return other.size() < form.size(); });
  forms_.insert(at, std::move(form));
  // `hidden_until` hides the longest form that begins at a place.
  AGW_DEBUG_ASSERT(std::ranges::is_sorted(forms_, std::ranges::greater(), &std::string::size));
}

}  // namespace agw

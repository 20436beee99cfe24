#include "features/integrations/bearer_challenge.hpp"

#include <algorithm>

#include <boost/algorithm/string/predicate.hpp>

namespace agw {

namespace {

bool is_token_character(char c) {
  return c > 0x20 && c < 0x7f && std::string_view("\"(),/:;<=>?@[\\]{}").find(c) == std::string_view::npos;
}

/// Parses a header from its beginning.
class HeaderReader {
public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  bool is_at_end() const { return rest_.empty(); }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip(std::string_view characters) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(characters), rest_.size()));
  }
  std::string_view token() {
    const auto end = std::ranges::find_if_not(rest_, is_token_character) - rest_.begin();
    const auto found = rest_.substr(0, static_cast<std::size_t>(end));
    rest_.remove_prefix(found.size());
    return found;
  }
  std::string value() {
    if (!take('"')) return std::string(token());
    std::string text;
    while (!rest_.empty() && !take('"')) {
      if (rest_.starts_with('\\') && rest_.size() > 1) rest_.remove_prefix(1);
      text += rest_.front();
      rest_.remove_prefix(1);
    }
    return text;
  }

private:
  std::string_view rest_;
};

void set_member(BearerChallenge& challenge, std::string_view name, std::string value) {
  if (boost::iequals(name, "resource_metadata"))
    challenge.resource_metadata = std::move(value);
  else if (boost::iequals(name, "scope"))
    challenge.scope = std::move(value);
  else if (boost::iequals(name, "error"))
    challenge.error = std::move(value);
}

}  // namespace

std::optional<BearerChallenge> bearer_challenge(std::string_view header) {
  constexpr std::string_view between = " \t,";
  std::optional<BearerChallenge> challenge;
  bool is_bearer = false;
  HeaderReader reader(header);
  for (reader.skip(between); !reader.is_at_end(); reader.skip(between)) {
    const auto word = reader.token();
    reader.skip(" \t");
    if (reader.take('=')) {
      reader.skip(" \t");
      auto value = reader.value();
      if (is_bearer) set_member(*challenge, word, std::move(value));
    } else if (word.empty()) {
      return challenge;  // malformed
    } else {
      is_bearer = !challenge && boost::iequals(word, "Bearer");
      if (is_bearer) challenge.emplace();
    }
  }
  return challenge;
}

}  // namespace agw

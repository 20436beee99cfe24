#include "tools/search/glob_pattern.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/json/json.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

/// Matches no character.
constexpr auto nothing = R"([^\s\S])";

/// The characters of a class such as `[:alpha:]`, without the slash, which no set matches; empty for an unknown class.
std::string_view characters_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> classes{{
      {"alnum", "0-9A-Za-z"},
      {"alpha", "A-Za-z"},
      {"blank", " \\t"},
      {"cntrl", "\\x00-\\x1F\\x7F"},
      {"digit", "0-9"},
      {"graph", "!-.0-~"},
      {"lower", "a-z"},
      {"print", " -.0-~"},
      {"punct", "!-.:-@\\[-`{-~"},
      {"space", " \\t\\n\\r"},
      {"upper", "A-Z"},
      {"xdigit", "0-9A-Fa-f"},
  }};
  const auto* const found = std::ranges::find(classes, name, &std::pair<std::string_view, std::string_view>::first);
  return found == classes.end() ? std::string_view() : found->second;
}

/// Translates a set, such as `[!a-z[:digit:]]`, from after its first bracket.
class SetTranslation {
public:
  SetTranslation(std::string_view rest, GlobPattern::Syntax syntax) : rest_(rest), syntax_(syntax) {
    negated_ = take("!") || take("^");
  }

  /// Returns nullopt if the set does not end. Throws BadRequest for an unknown class.
  std::optional<std::string> expression() {
    for (bool is_first = true; !rest_.empty(); is_first = false) {
      if (!is_first && take("]")) return whole();
      if (take_class()) continue;
      const auto low = take_character();
      if (rest_.size() < 2 || rest_[0] != '-' || rest_[1] == ']') {
        add(low, low);
        continue;
      }
      rest_.remove_prefix(1);
      add(low, take_character());
    }
    return std::nullopt;
  }
  std::string_view rest() const { return rest_; }

private:
  std::string whole() const {
    if (negated_) return "[^/" + set_ + "]";
    return set_.empty() ? nothing : "[" + set_ + "]";
  }

  bool take_class() {
    if (!rest_.starts_with("[:")) return false;
    const auto end = rest_.find(']', 2);
    // Otherwise the bracket is an ordinary character.
    if (end == rest_.npos || end < 3 || rest_[end - 1] != ':') return false;
    const auto name = rest_.substr(2, end - 3);
    const auto characters = characters_of(name);
    if (characters.empty()) throw BadRequest(fmt::format("pattern: there is no class [:{}:]", name));
    set_ += characters;
    rest_.remove_prefix(end + 1);
    return true;
  }

  std::string_view take_character() {
    if (rest_.size() > 1 && rest_.front() == '\\') rest_.remove_prefix(1);
    std::size_t length = 1;
    // For Git, a character is a byte.
    while (syntax_ == GlobPattern::Syntax::shell && length < rest_.size() && continues_character(rest_[length]))
      ++length;
    const auto character = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return character;
  }

  void add(std::string_view low, std::string_view high) {
    const bool is_reverse = high < low;
    if (is_reverse && syntax_ == GlobPattern::Syntax::gitignore) return;
    if (is_reverse || low > "/" || high < "/") return add_range(low, high);
    if (low < "/") add_range(low, ".");
    if (high > "/") add_range("0", high);
  }
  void add_range(std::string_view low, std::string_view high) {
    set_ += escaped(low) + (low == high ? std::string() : "-" + escaped(high));
  }
  static std::string escaped(std::string_view character) {
    const auto byte = static_cast<unsigned char>(character.front());
    return character.size() == 1 && byte < 0x80 ? fmt::format("\\x{:02X}", byte) : std::string(character);
  }

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  std::string_view rest_;
  GlobPattern::Syntax syntax_;
  bool negated_ = false;
  std::string set_;
};

/// Translates a pattern into a regular expression, piece by piece.
class Translation {
public:
  Translation(std::string_view pattern, GlobPattern::Syntax syntax) : rest_(pattern), syntax_(syntax) {}

  std::string expression() {
    while (!rest_.empty()) translate_next();
    for (; depth_ > 0; --depth_) out_ += ')';
    return out_;
  }

private:
  void translate_next() {
    const char first = rest_.front();
    rest_.remove_prefix(1);
    switch (first) {
      case '*':
        return translate_stars();
      case '?':
        return add("[^/]");
      case '[':
        return translate_set();
      case '\\':
        return translate_escaped();
      default:
        return translate_brace(first);
    }
  }

  void translate_stars() {
    bool is_one = true;
    const bool starts_name = at_start_of_name();
    while (take("*")) is_one = false;
    if (is_one || !starts_name) return add("[^/]*");
    if (rest_.empty()) return add(".*");
    add(take("/") ? "(?:.*/)?" : "[^/]*");
  }

  void translate_set() {
    SetTranslation set(rest_, syntax_);
    const auto expression = set.expression();
    if (!expression && syntax_ == GlobPattern::Syntax::gitignore) throw BadRequest("pattern: [ without ]");
    if (!expression) return add_literal("[");
    rest_ = set.rest();
    add(*expression);
  }

  void translate_escaped() {
    if (rest_.empty() && syntax_ == GlobPattern::Syntax::gitignore) throw BadRequest("pattern: \\ at the end");
    if (rest_.empty()) return add_literal("\\");
    add_literal(rest_.substr(0, 1));
    rest_.remove_prefix(1);
  }

  void translate_brace(char first) {
    const bool choice = syntax_ == GlobPattern::Syntax::shell;
    if (choice && first == '{' && rest_.find('}') != rest_.npos) {
      ++depth_;
      add("(?:");
    } else if (first == '}' && depth_ > 0) {
      --depth_;
      add(")");
    } else if (first == ',' && depth_ > 0) {
      add("|");
    } else {
      add_literal({&first, 1});
    }
  }

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  bool at_start_of_name() const { return out_.empty() || out_.ends_with('/') || out_.ends_with("(?:.*/)?"); }
  void add(std::string_view text) { out_ += text; }
  void add_literal(std::string_view text) { out_ += re2::RE2::QuoteMeta(re2::StringPiece(text.data(), text.size())); }

  std::string_view rest_;
  GlobPattern::Syntax syntax_;
  std::string out_;
  int depth_ = 0;
};

std::shared_ptr<const re2::RE2> compiled(const std::string& expression, re2::RE2::Options::Encoding encoding) {
  re2::RE2::Options options;
  options.set_encoding(encoding);
  options.set_log_errors(false);
  options.set_dot_nl(true);
  options.set_never_capture(true);
  options.set_max_mem(std::int64_t{8} * 1024 * 1024);
  return std::make_shared<const re2::RE2>(expression, options);
}

}  // namespace

GlobPattern::GlobPattern(std::string_view pattern, Syntax syntax) {
  const auto expression = Translation(pattern, syntax).expression();
  // Names are bytes, so names that are not valid UTF-8 match as well.
  expression_ = compiled(expression, re2::RE2::Options::EncodingLatin1);
  if (syntax == Syntax::shell && pattern.find_first_of("?[") != pattern.npos && is_utf8(pattern)) {
    characters_ = compiled(expression, re2::RE2::Options::EncodingUTF8);
  }
  const auto& decides = characters_ ? characters_ : expression_;
  if (!decides->ok()) throw BadRequest(fmt::format("pattern {}: {}", pattern, decides->error()));
}

bool GlobPattern::matches(std::string_view path) const {
  const auto& decides = characters_ && is_utf8(path) ? characters_ : expression_;
  return decides->ok() && re2::RE2::FullMatch(re2::StringPiece(path.data(), path.size()), *decides);
}

}  // namespace agw

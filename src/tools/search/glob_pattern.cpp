#include "tools/search/glob_pattern.hpp"

#include <re2/re2.h>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/json/json.hpp"

namespace agw {

namespace {

/// Translates a pattern into a regular expression, piece by piece.
class Translation {
public:
  Translation(std::string_view pattern, GlobPattern::BraceExpansion braces) : rest_(pattern), braces_(braces) {}

  std::string expression() {
    while (!rest_.empty()) translate_next();
    for (; depth_ > 0; --depth_) out_ += ')';
    return out_;
  }

private:
  void translate_next() {
    if (take("**/")) return add(at_start_of_name() ? "(?:.*/)?" : "[^/]*/");
    if (rest_ == "**" && at_start_of_name()) return take("**"), add(".*");
    const char first = rest_.front();
    rest_.remove_prefix(1);
    switch (first) {
      case '*':
        while (take("*")) continue;
        return add("[^/]*");
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

  void translate_set() {
    const bool negated = take("!") || take("^");
    const auto end = rest_.find(']', rest_.starts_with("]") ? 1 : 0);
    if (end == rest_.npos) return add_literal("[");
    std::string set;
    for (const char each : rest_.substr(0, end)) {
      if (each == '\\' || each == '[' || each == ']' || each == '^' || each == '&') set += '\\';
      set += each;
    }
    rest_.remove_prefix(end + 1);
    add(fmt::format("[{}{}]", negated ? "^/" : "", set));
  }

  void translate_escaped() {
    if (rest_.empty()) return add_literal("\\");
    add_literal(rest_.substr(0, 1));
    rest_.remove_prefix(1);
  }

  void translate_brace(char first) {
    const bool choice = braces_ == GlobPattern::BraceExpansion::choice;
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
  GlobPattern::BraceExpansion braces_;
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

GlobPattern::GlobPattern(std::string_view pattern, BraceExpansion braces) {
  const auto expression = Translation(pattern, braces).expression();
  // Names are bytes: names that are not UTF-8 can be matched as well.
  expression_ = compiled(expression, re2::RE2::Options::EncodingLatin1);
  if (pattern.find_first_of("?[") != pattern.npos && is_utf8(pattern)) {
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

#include "base/json/yaml.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>
#include <yaml-cpp/yaml.h>

#include "base/text/numbers.hpp"

namespace agw {

namespace {

std::optional<json::value> based_integer(std::string_view text) {
  const int base = text.starts_with("0x") ? 16 : text.starts_with("0o") ? 8 : 0;
  if (base == 0) return std::nullopt;
  const auto digits = text.substr(2);
  if (digits.starts_with('-')) return std::nullopt;
  if (const auto number = parse_number<std::int64_t>(digits, base)) return json::value(*number);
  return std::nullopt;
}

bool is_refused_control(char c) { return c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r'; }

std::optional<json::value> decimal_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  // from_chars would also accept `inf`, `nan` and a second sign.
  const auto first = text.find_first_not_of('-');
  if (first > 1 || text.find_first_not_of("0123456789.eE+-") != text.npos) return std::nullopt;
  if (const auto number = parse_number<std::int64_t>(text)) return json::value(*number);
  if (const auto number = parse_number<std::uint64_t>(text)) return json::value(*number);
  if (const auto number = parse_number<double>(text)) return json::value(*number);
  return std::nullopt;
}

/// The value of a plain scalar in the core schema of YAML 1.2.
json::value plain_scalar(std::string_view text) {
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (auto number = based_integer(text)) return *number;
  if (auto number = decimal_number(text)) return *number;
  return json::string(text);
}

/// Builds the value from parser events, so that aliases are rejected before they are expanded.
class YamlBuilder : public YAML::EventHandler {
public:
  json::value take() { return std::move(result_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(mark, nullptr); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { fail(mark, "aliases (*name) are not taken"); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& text) override {
    const bool key = !open_.empty() && open_.back().value.is_object() && !open_.back().key;
    if (key) return set_key(mark, text);
    if (tag == "?") return add(mark, plain_scalar(text));
    if (tag != "!" && tag != "tag:yaml.org,2002:str") fail(mark, "the tag " + tag + " is not taken");
    add(mark, json::string(text));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, json::array{});
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, tag, json::object{});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

private:
  /// An open list or map and its start.
  struct Open {
    json::value value;
    std::optional<std::string> key;
    YAML::Mark mark;
  };

  [[noreturn]] static void fail(const YAML::Mark& mark, const std::string& why) { throw YamlError(mark.line + 1, why); }

  void open(const YAML::Mark& mark, const std::string& tag, json::value value) {
    if (tag != "?" && !tag.empty()) fail(mark, "the tag " + tag + " is not taken");
    if (open_.size() == max_json_depth) fail(mark, "nested deeper than " + std::to_string(max_json_depth));
    if (!open_.empty() && open_.back().value.is_object() && !open_.back().key) fail(mark, "a key must be a word");
    open_.push_back({std::move(value), std::nullopt, mark});
  }

  void close() {
    auto ended = std::move(open_.back());
    open_.pop_back();
    add(ended.mark, std::move(ended.value));
  }

  void set_key(const YAML::Mark& mark, const std::string& name) {
    auto& map = open_.back();
    if (map.value.get_object().contains(name)) fail(mark, "the key " + name + " is given twice");
    map.key = name;
  }

  void add(const YAML::Mark& mark, json::value value) {
    if (open_.empty()) {
      result_ = std::move(value);
    } else if (auto& parent = open_.back(); parent.value.is_array()) {
      parent.value.get_array().push_back(std::move(value));
    } else {
      if (!parent.key) fail(mark, "a key must be a word");
      parent.value.get_object()[*parent.key] = std::move(value);
      parent.key.reset();
    }
  }

  std::vector<Open> open_;
  json::value result_;
};

/// Records where a document begins.
class DocumentBeginning : public YAML::EventHandler {
public:
  const YAML::Mark& mark() const { return mark_; }

  void OnDocumentStart(const YAML::Mark& mark) override { mark_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

private:
  YAML::Mark mark_;
};

}  // namespace

// The parser quotes only the first byte of a character that cannot be escaped.
std::string message_of(const YAML::Exception& error) { return to_utf8(error.msg); }

YAML::Node load_yaml_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentBeginning first, second;
  if (parser.HandleNextDocument(first) && parser.HandleNextDocument(second)) {
    throw YAML::ParserException(second.mark(), "must be one document");
  }
  return YAML::Load(text);
}

json::value yaml_to_json(std::string_view text) {
  if (text.size() > max_yaml_size) throw YamlError(1, "YAML over 1 MiB is not taken");
  if (!is_utf8(text)) throw YamlError(1, "the text is not UTF-8");
  // The parser would misinterpret text after a NUL.
  const auto control = std::ranges::find_if(text, is_refused_control);
  if (control != text.end()) {
    const auto line = std::count(text.begin(), control, '\n') + 1;
    throw YamlError(static_cast<int>(line), "control characters are taken only as escapes in double quotes");
  }
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    YamlBuilder builder;
    parser.HandleNextDocument(builder);
    YamlBuilder second;
    if (parser.HandleNextDocument(second)) throw YamlError(1, "must be one document");
    return builder.take();
  } catch (const YAML::Exception& error) {
    throw YamlError(error.mark.line + 1, message_of(error));
  }
}

}  // namespace agw

// Validates input against a JSON Schema, with messages that help a model to correct itself. Schemas may be untrusted,
// so the work is bounded: by depth, by a number of steps, and by regular expressions that match in linear time. A step
// is at most a few microseconds; what takes longer counts as several. If a schema exceeds a bound, validation is left
// to the callee (UnsupportedSchema).

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "tools/input.hpp"

namespace agw {

namespace {

constexpr int max_schema_depth = 32;
constexpr std::size_t max_steps = 40'000;
/// Compiling a pattern takes up to 15 ms.
constexpr std::size_t steps_of_pattern = 2'000;
constexpr std::size_t entries_per_step = 8;
constexpr std::size_t bytes_per_step = 512;
constexpr std::size_t max_problems = 5;
constexpr std::size_t max_types = 7;
constexpr std::size_t max_pattern_length = 1'000;
constexpr std::int64_t pattern_memory = 1 << 18;
constexpr std::size_t max_shown_length = 200;
/// Longer strings are not taken for JSON.
constexpr std::size_t max_parsed_text = std::size_t{64} * 1024;

/// Thrown if the schema cannot be checked.
struct UnsupportedSchema {};

std::optional<double> number_member(const json::object& schema, std::string_view name) {
  const auto* member = schema.if_contains(name);
  return member && member->is_number() ? std::optional(member->to_number<double>()) : std::nullopt;
}

/// Steps such as 0.01 and their multiples have no exact binary representation.
bool is_multiple(double value, double step) {
  if (step <= 0) return true;
  const double count = value / step;
  if (!std::isfinite(count)) return std::fmod(value, step) == 0;
  return std::abs(count - std::round(count)) <= 4 * std::numeric_limits<double>::epsilon() * std::abs(count);
}

/// Walks through an input and its schema in parallel.
class InputCheck {
public:
  explicit InputCheck(const json::value& root) : root_(root) {}

  using Problems = std::vector<std::string>;

  /// Throws UnsupportedSchema.
  Problems check(const json::value& schema, const json::value& value, const std::string& path) {
    Problems problems;
    walk(schema, value, path, problems);
    return problems;
  }

private:
  void take_steps(std::size_t count) {
    steps_ += count;
    if (steps_ > max_steps) throw UnsupportedSchema();
  }

  std::string shown(const json::value& value) {
    auto text = to_json(value);
    take_steps(text.size() / bytes_per_step);
    if (text.size() > max_shown_length) text = to_utf8(text.substr(0, max_shown_length)) + "…";
    return text;
  }

  static void report(Problems& problems, const std::string& path, std::string_view what) {
    if (problems.size() < max_problems) problems.push_back(fmt::format("{} {}", path.empty() ? "input" : path, what));
  }

  void walk(const json::value& schema, const json::value& value, const std::string& path, Problems& problems) {
    take_steps(1);
    if (depth_ >= max_schema_depth) throw UnsupportedSchema();
    if (schema.is_bool()) {
      if (!schema.get_bool()) report(problems, path, "is not allowed");
      return;
    }
    if (!schema.is_object()) throw UnsupportedSchema();
    ++depth_;
    const auto& object = schema.get_object();
    if (const auto* reference = object.if_contains("$ref")) walk(target_of(*reference), value, path, problems);
    if (type(object, value, path, problems)) members(object, value, path, problems);
    --depth_;
  }

  void members(const json::object& schema, const json::value& value, const std::string& path, Problems& problems) {
    listed(schema, value, path, problems);
    if (value.is_number()) bounds(schema, value.to_number<double>(), path, problems);
    if (value.is_string()) text(schema, value.get_string(), path, problems);
    if (value.is_object()) this->object(schema, value.get_object(), path, problems);
    if (value.is_array()) array(schema, value.get_array(), path, problems);
    combined(schema, value, path, problems);
  }

  /// Only references within the schema are supported.
  const json::value& target_of(const json::value& reference) {
    if (!reference.is_string()) throw UnsupportedSchema();
    const std::string_view text(reference.get_string());
    take_steps(text.size() / bytes_per_step);
    if (!text.starts_with("#/")) throw UnsupportedSchema();
    boost::system::error_code error;
    const auto* target = root_.find_pointer(text.substr(1), error);
    if (error || !target) throw UnsupportedSchema();
    return *target;
  }

  bool type(const json::object& schema, const json::value& value, const std::string& path, Problems& problems) {
    const auto* given = schema.if_contains("type");
    if (!given) return true;
    std::vector<std::string> types;
    for (const auto& one : given->is_array() ? given->get_array() : json::array{*given}) {
      if (!one.is_string() || types.size() == max_types) throw UnsupportedSchema();
      types.emplace_back(one.get_string());
    }
    if (std::ranges::any_of(types, [&](const auto& name) { return has_json_type(value, name); })) return true;
    report(problems, path, fmt::format("must be of type {}", fmt::join(types, " or ")));
    return false;
  }

  void listed(const json::object& schema, const json::value& value, const std::string& path, Problems& problems) {
    const auto* values = array_member(schema, "enum");
    take_steps(values ? values->size() / entries_per_step : 0);
    if (values && std::ranges::none_of(*values, [&](const auto& one) { return equal_by_value(one, value); })) {
      report(problems, path, "must be one of " + shown(*values));
    }
    if (const auto* only = schema.if_contains("const"); only && !equal_by_value(*only, value)) {
      report(problems, path, "must be " + shown(*only));
    }
  }

  static void bounds(const json::object& schema, double number, const std::string& path, Problems& problems) {
    const auto bound = [&](std::string_view name, auto holds, std::string_view words) {
      const auto limit = number_member(schema, name);
      if (limit && !holds(number, *limit)) report(problems, path, fmt::format("must be {} {}", words, *limit));
    };
    bound("minimum", std::greater_equal<>(), "at least");
    bound("maximum", std::less_equal<>(), "at most");
    bound("exclusiveMinimum", std::greater<>(), "more than");
    bound("exclusiveMaximum", std::less<>(), "less than");
    bound("multipleOf", is_multiple, "a multiple of");
  }

  static void size(const json::object& schema, std::string_view min_keyword, std::string_view max_keyword,
                   std::int64_t size, std::string_view unit, const std::string& path, Problems& problems) {
    const auto count = static_cast<double>(size);
    if (const auto limit = number_member(schema, min_keyword); limit && count < *limit) {
      report(problems, path, fmt::format("must have at least {} {}", *limit, unit));
    }
    if (const auto limit = number_member(schema, max_keyword); limit && count > *limit) {
      report(problems, path, fmt::format("must have at most {} {}", *limit, unit));
    }
  }

  void text(const json::object& schema, std::string_view value, const std::string& path, Problems& problems) {
    take_steps(value.size() / bytes_per_step);
    size(schema, "minLength", "maxLength", count_characters(value), "characters", path, problems);
    const auto pattern = string_member(schema, "pattern");
    if (pattern && !matches(*pattern, value)) {
      report(problems, path, fmt::format("must match the pattern {}", pattern->substr(0, max_shown_length)));
    }
  }

  bool matches(std::string_view pattern, std::string_view value) {
    if (pattern.size() > max_pattern_length) return true;
    auto& expression = expressions_[pattern];
    if (!expression) {
      take_steps(steps_of_pattern);
      re2::RE2::Options options;
      options.set_log_errors(false);
      options.set_max_mem(pattern_memory);
      expression = std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
    }
    return !expression->ok() || re2::RE2::PartialMatch(re2::StringPiece(value.data(), value.size()), *expression);
  }

  void object(const json::object& schema, const json::object& value, const std::string& path, Problems& problems) {
    if (const auto* required = array_member(schema, "required")) {
      take_steps(required->size() / entries_per_step);
      for (const auto& name : *required) {
        if (!name.is_string()) throw UnsupportedSchema();
        if (!value.contains(name.get_string())) report(problems, join(path, name.get_string()), "is required");
      }
    }
    take_steps(value.size() / entries_per_step);
    size(schema, "minProperties", "maxProperties", static_cast<std::int64_t>(value.size()), "members", path, problems);
    const auto* properties = object_member(schema, "properties");
    const auto* patterns = object_member(schema, "patternProperties");
    const auto* others = schema.if_contains("additionalProperties");
    for (const auto& member : value) {
      const auto here = join(path, member.key());
      bool known = false;
      if (const auto* own = properties ? properties->if_contains(member.key()) : nullptr) {
        known = true;
        walk(*own, member.value(), here, problems);
      }
      if (patterns && by_pattern(*patterns, member.key(), member.value(), here, problems)) known = true;
      if (known || !others) continue;
      if (others->is_bool() && !others->get_bool())
        report(problems, here, "is not a member of this tool's input");
      else
        walk(*others, member.value(), here, problems);
    }
  }

  bool by_pattern(const json::object& patterns, std::string_view name, const json::value& value,
                  const std::string& path, Problems& problems) {
    bool any = false;
    for (const auto& pattern : patterns) {
      take_steps(1);
      if (!matches(pattern.key(), name)) continue;
      any = true;
      walk(pattern.value(), value, path, problems);
    }
    return any;
  }

  void array(const json::object& schema, const json::array& value, const std::string& path, Problems& problems) {
    take_steps(value.size() / entries_per_step);
    size(schema, "minItems", "maxItems", static_cast<std::int64_t>(value.size()), "entries", path, problems);
    const auto* first = array_member(schema, "prefixItems");
    const auto* items = schema.if_contains("items");
    for (std::size_t i = 0; i < value.size(); ++i) {
      const auto here = fmt::format("{}[{}]", path, i);
      if (first && i < first->size())
        walk((*first)[i], value[i], here, problems);
      else if (items && !items->is_array())
        walk(*items, value[i], here, problems);
    }
  }

  /// Keywords with several schemas for one value.
  void combined(const json::object& schema, const json::value& value, const std::string& path, Problems& problems) {
    if (const auto* all = array_member(schema, "allOf")) {
      for (const auto& one : *all) walk(one, value, path, problems);
    }
    const auto fitting = [&](const json::array& list) {
      return std::ranges::count_if(list, [&](const auto& one) { return check(one, value, path).empty(); });
    };
    if (const auto* any = array_member(schema, "anyOf"); any && fitting(*any) == 0) {
      report(problems, path, "matches none of the possible schemas: " + shown(*any));
    }
    if (const auto* one = array_member(schema, "oneOf"); one && fitting(*one) != 1) {
      report(problems, path, "must match exactly one of " + shown(*one));
    }
    if (const auto* no = schema.if_contains("not"); no && check(*no, value, path).empty()) {
      report(problems, path, "must not match " + shown(*no));
    }
  }

  static std::string join(const std::string& path, std::string_view name) {
    return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
  }

  const json::value& root_;
  std::map<std::string_view, std::unique_ptr<re2::RE2>> expressions_;  ///< by their patterns
  std::size_t steps_ = 0;
  int depth_ = 0;
};

}  // namespace

void correct_input(json::object& input, const json::value& schema) {
  const auto* object = schema.if_object();
  const auto* properties = object ? object_member(*object, "properties") : nullptr;
  if (!properties) return;
  const auto* required = array_member(*object, "required");
  const auto fits = [&](const json::value& property, const json::value& value) {
    return InputCheck(schema).check(property, value, "").empty();
  };
  std::vector<std::string> omitted;
  for (auto& member : input) {
    const auto name = member.key();
    auto& value = member.value();
    const bool is_text = value.is_string() && value.get_string().size() <= max_parsed_text;
    const auto* property = value.is_null() || is_text ? properties->if_contains(name) : nullptr;
    try {
      if (!property || fits(*property, value)) continue;
      if (is_text) {
        auto parsed = parse_json(value.get_string(), {.max_depth = max_schema_depth});
        if (parsed && fits(*property, *parsed)) value = std::move(*parsed);
      } else if (!required || !contains(*required, json::value(name))) {
        omitted.emplace_back(name);
      }
    } catch (const UnsupportedSchema&) {
      continue;
    }
  }
  for (const auto& name : omitted) input.stable_erase(name);
}

std::optional<std::string> input_problem(const json::value& schema, const json::object& input) {
  try {
    const auto problems = InputCheck(schema).check(schema, input, "");
    if (problems.empty()) return std::nullopt;
    return fmt::format("{}", fmt::join(problems, "; "));
  } catch (const UnsupportedSchema&) {
    return std::nullopt;
  }
}

}  // namespace agw

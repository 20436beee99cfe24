// Reads, writes and describes values by their Description: one table per type that serves validation of requests,
// responses and schemas. The first half has the operations for each kind of member, the second half iterates over the
// members of a struct.

#include "base/json/described.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/json/describe.hpp"

namespace agw {

namespace {

void* address(void* object, const Field& field) { return field.member(object); }
const void* address(const void* object, const Field& field) { return field.member(const_cast<void*>(object)); }

void report_missing(const Field& field, const std::string& path, Problems& problems) {
  problems.push_back({path, field.rule.missing.empty() ? path + " is required" : std::string(field.rule.missing)});
}

template <class T>
T& as(void* value) {
  return *static_cast<T*>(value);
}
template <class T>
const T& as(const void* value) {
  return *static_cast<const T*>(value);
}

json::object typed(std::string_view type) { return {{"type", type}}; }

/// An integer, even if written as `3.0`.
template <class Integer>
std::optional<Integer> whole_number(const json::value& in) {
  boost::system::error_code error;
  const auto number = in.to_number<Integer>(error);
  if (error) return std::nullopt;
  return number;
}

template <class Integer>
void read_integer(const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
  if (!in.is_number()) return report_wrong_type(field, "number", path, problems);
  if (const auto number = whole_number<Integer>(in))
    as<Integer>(value) = *number;
  else
    problems.push_back({path, path + " must be a whole number"});
}

template <class Integer>
void read_integer_text(std::string_view in, void* value, const Field& field, Problems& problems) {
  const auto [end, error] = std::from_chars(in.data(), in.data() + in.size(), as<Integer>(value));
  if (error != std::errc{} || end != in.data() + in.size()) {
    report_wrong_type(field, "number", std::string(field.name), problems);
  }
}

void read_limit_text(std::string_view in, void* value, const Field& field, Problems& problems) {
  std::string_view digits = in;
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  const bool whole = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos && digits != "0";
  if (!whole) {
    problems.push_back({std::string(field.name), std::string(field.name) + " must be a positive integer"});
  } else if (digits.size() > 4) {
    as<Limit>(value).value = 1000;
  } else {
    std::from_chars(digits.data(), digits.data() + digits.size(), as<Limit>(value).value);
    as<Limit>(value).value = std::min(as<Limit>(value).value, 1000);
  }
}

void read_time_text(std::string_view in, void* value, const Field& field, const std::string& path, Problems& problems) {
  (void)field;
  if (const auto time = parse_iso8601(in))
    as<Timestamp>(value) = *time;
  else
    problems.push_back({path, path + " must be an ISO 8601 timestamp"});
}

}  // namespace

void report_wrong_type(const Field& field, std::string_view type, const std::string& path, Problems& problems) {
  problems.push_back({path, field.rule.wrong_type.empty() ? path + " must be a " + std::string(type)
                                                          : std::string(field.rule.wrong_type)});
}

void report_not_listed(const Field& field, std::string_view value, const std::string& path, Problems& problems) {
  const auto prefix = field.rule.invalid.empty() ? "invalid " + path + ": " : std::string(field.rule.invalid);
  problems.push_back({path, prefix + std::string(value)});
}

const Operations string_operations{
    .type = "string",
    .write = [](std::string& out, const void* value) { write_json(out, std::string_view(as<std::string>(value))); },
    .read =
        [](const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
          if (in.is_string())
            as<std::string>(value) = std::string_view(in.get_string());
          else
            report_wrong_type(field, "string", path, problems);
        },
    .read_text = [](std::string_view in, void* value, const Field&, Problems&) { as<std::string>(value) = in; },
    .schema = [](Direction) { return typed("string"); }};

const Operations boolean_operations{
    .type = "boolean",
    .write = [](std::string& out, const void* value) { out += as<bool>(value) ? "true" : "false"; },
    .read =
        [](const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
          if (in.is_bool())
            as<bool>(value) = in.get_bool();
          else
            report_wrong_type(field, "boolean", path, problems);
        },
    .read_text =
        [](std::string_view in, void* value, const Field& field, Problems& problems) {
          if (in == "true" || in == "1")
            as<bool>(value) = true;
          else if (in == "false" || in == "0")
            as<bool>(value) = false;
          else
            problems.push_back({std::string(field.name), std::string(field.name) + " must be true or false"});
        },
    .schema = [](Direction) { return typed("boolean"); }};

const Operations integer_operations{
    .type = "number",
    .write = [](std::string& out, const void* value) { write_json(out, json::value(as<std::int64_t>(value))); },
    .read = read_integer<std::int64_t>,
    .read_text = read_integer_text<std::int64_t>,
    .schema = [](Direction) { return typed("integer"); }};

const Operations small_integer_operations{
    .type = "number",
    .write = [](std::string& out, const void* value) { write_json(out, json::value(as<int>(value))); },
    .read = read_integer<int>,
    .read_text = read_integer_text<int>,
    .schema = [](Direction) { return typed("integer"); }};

const Operations number_operations{
    .type = "number",
    .write = [](std::string& out, const void* value) { write_json(out, as<double>(value)); },
    .read =
        [](const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
          if (in.is_number())
            as<double>(value) = in.to_number<double>();
          else
            report_wrong_type(field, "number", path, problems);
        },
    .schema = [](Direction) { return typed("number"); }};

const Operations time_operations{
    .type = "string",
    .write =
        [](std::string& out, const void* value) {
          out += '"';
          append_iso8601(out, as<Timestamp>(value));
          out += '"';
        },
    .read =
        [](const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
          if (in.is_string())
            read_time_text(std::string_view(in.get_string()), value, field, path, problems);
          else
            report_wrong_type(field, "string", path, problems);
        },
    .read_text = [](std::string_view in, void* value, const Field& field,
                    Problems& problems) { read_time_text(in, value, field, std::string(field.name), problems); },
    .schema = [](Direction) { return json::object{{"type", "string"}, {"format", "date-time"}}; }};

const Operations limit_operations{
    .type = "number",
    .optional = true,
    .write = [](std::string& out, const void* value) { out += std::to_string(as<Limit>(value).value); },
    .read_text = read_limit_text,
    .schema = [](Direction) { return json::object{{"type", "integer"}, {"minimum", 1}}; }};

const Operations any_operations{
    .type = "",
    .write = [](std::string& out, const void* value) { write_json(out, as<json::value>(value)); },
    .read = [](const json::value& in, void* value, const Field&, const std::string&,
               Problems&) { as<json::value>(value) = in; },
    .schema = [](Direction) { return json::object{}; }};

const Operations object_operations{
    .type = "object",
    .write = [](std::string& out, const void* value) { write_json(out, json::value(as<json::object>(value))); },
    .read =
        [](const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
          if (in.is_object())
            as<json::object>(value) = in.get_object();
          else
            report_wrong_type(field, "object", path, problems);
        },
    .schema = [](Direction) { return typed("object"); }};

const Operations array_operations{
    .type = "array",
    .write = [](std::string& out, const void* value) { write_json(out, json::value(as<json::array>(value))); },
    .read =
        [](const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
          if (in.is_array())
            as<json::array>(value) = in.get_array();
          else
            report_wrong_type(field, "array", path, problems);
        },
    .schema = [](Direction) { return typed("array"); }};

void write_described(std::string& out, const Description& description, const void* value) {
  constexpr std::array<std::string_view, 4> empty_values{"[]", "false", "null", "0"};
  char separator = '{';
  for (const auto& field : description.fields) {
    const auto before = out.size();
    out += separator;
    out += '"';
    out += field.name;
    out += "\":";
    const auto written = out.size();
    field.operations->write(out, address(value, field));
    const auto text = std::string_view(out).substr(written);
    const bool is_empty = field.rule.omit_empty && std::ranges::find(empty_values, text) != empty_values.end();
    if (is_empty || (field.rule.omit_null && text == "null"))
      out.resize(before);
    else
      separator = ',';
  }
  if (separator == '{') out += separator;
  out += '}';
}

void read_described(const json::object& in, const Description& description, void* value, const std::string& path,
                    Problems& problems) {
  for (const auto& field : description.fields) {
    const auto place = path + std::string(field.name);
    const auto* member = in.if_contains(field.name);
    const bool omitted = !member || (member->is_null() && !field.operations->null_is_a_value);
    if (!omitted)
      field.operations->read(*member, address(value, field), field, place, problems);
    else if (!field.operations->optional && !field.rule.has_default)
      report_missing(field, place, problems);
  }
}

void read_query(const std::function<std::optional<std::string_view>(std::string_view)>& find,
                const Description& description, void* value, Problems& problems) {
  for (const auto& field : description.fields) {
    const auto text = find(field.name);
    if (text)
      field.operations->read_text(*text, address(value, field), field, problems);
    else if (!field.may_be_omitted()) {
      report_missing(field, std::string(field.name), problems);
    }
  }
}

json::object schema_of(const Description& description, Direction direction) {
  json::object properties;
  json::array required;
  for (const auto& field : description.fields) {
    auto schema = field.operations->schema(direction);
    if (!field.rule.about.empty()) schema["description"] = field.rule.about;
    properties[field.name] = std::move(schema);
    const bool is_sent = direction == Direction::response && !field.rule.omit_empty && !field.rule.omit_null;
    if (is_sent || (direction == Direction::request && !field.may_be_omitted())) required.emplace_back(field.name);
  }
  json::object schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

std::string_view enum_name(std::span<const EnumName> names, int value) {
  for (const auto& entry : names) {
    if (entry.value == value) return entry.name;
  }
  return {};
}

std::optional<int> enum_value(std::span<const EnumName> names, std::string_view name) {
  for (const auto& entry : names) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

}  // namespace agw

#pragma once

// The implementation of described.hpp. Only types.cpp files include it, because it instantiates a table for each type.

#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>

#include <boost/describe.hpp>
#include <boost/mp11.hpp>

#include "base/json/described.hpp"

namespace agw {

template <class T>
constexpr auto rules(Tag<T>) {
  return std::tuple<>{};
}

// The error texts common to all fields.
void report_wrong_type(const Field& field, std::string_view type, const std::string& path, Problems& problems);
void report_not_listed(const Field& field, std::string_view value, const std::string& path, Problems& problems);

// The scalars: one set of operations for each JSON type.
extern const Operations string_operations;
extern const Operations boolean_operations;
extern const Operations integer_operations;        // std::int64_t
extern const Operations small_integer_operations;  // int
extern const Operations number_operations;         // double
extern const Operations time_operations;           // Timestamp
extern const Operations limit_operations;          // Limit
extern const Operations any_operations;            // json::value
extern const Operations object_operations;         // json::object
extern const Operations array_operations;          // json::array

template <class T>
const Operations& operations_of();

template <class T>
struct OperationsOf;

// Enumerations.
template <class T>
  requires std::is_enum_v<T>
struct OperationsOf<T> {
  static void read_name(std::string_view in, void* value, const Field& field, const std::string& path,
                        Problems& problems) {
    if (const auto known = from_text<T>(in))
      *static_cast<T*>(value) = *known;
    else
      report_not_listed(field, in, path, problems);
  }
  static constexpr Operations operations{
      .type = "string",
      .write = [](std::string& out, const void* value) { write_json(out, to_text(*static_cast<const T*>(value))); },
      .read =
          [](const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
            if (in.is_string())
              read_name(std::string_view(in.get_string()), value, field, path, problems);
            else
              report_wrong_type(field, "string", path, problems);
          },
      .read_text = [](std::string_view in, void* value, const Field& field,
                      Problems& problems) { read_name(in, value, field, std::string(field.name), problems); },
      .schema =
          [](Direction) {
            json::array listed;
            for (const auto& name : names(Tag<T>{})) listed.emplace_back(name.name);
            return json::object{{"type", "string"}, {"enum", std::move(listed)}};
          }};
};

// Described structs.
template <DescribedStruct T>
struct OperationsOf<T> {
  static constexpr Operations operations{
      .type = "object",
      .write = [](std::string& out, const void* value) { write_described(out, describe(Tag<T>{}), value); },
      .read =
          [](const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
            if (in.is_object())
              read_described(in.get_object(), describe(Tag<T>{}), value, path + ".", problems);
            else
              report_wrong_type(field, "object", path, problems);
          },
      .schema = [](Direction direction) { return schema_of(describe(Tag<T>{}), direction); }};
};

template <class T>
struct OperationsOf<std::optional<T>> {
  static constexpr Operations operations{
      .type = "",
      .optional = true,
      .write =
          [](std::string& out, const void* value) {
            const auto& optional = *static_cast<const std::optional<T>*>(value);
            if (optional)
              operations_of<T>().write(out, &*optional);
            else
              out += "null";
          },
      .read =
          [](const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
            operations_of<T>().read(in, &static_cast<std::optional<T>*>(value)->emplace(), field, path, problems);
          },
      .read_text =
          [](std::string_view in, void* value, const Field& field, Problems& problems) {
            operations_of<T>().read_text(in, &static_cast<std::optional<T>*>(value)->emplace(), field, problems);
          },
      .schema =
          [](Direction direction) {
            auto schema = operations_of<T>().schema(direction);
            if (schema.contains("type") && schema["type"].is_string()) {
              schema["type"] = json::array{schema["type"], "null"};
              if (auto* listed = schema.if_contains("enum")) listed->get_array().emplace_back(nullptr);
              return schema;
            }
            if (schema.empty()) return schema;
            return json::object{{"anyOf", json::array{std::move(schema), json::object{{"type", "null"}}}}};
          }};
};

template <class T>
struct OperationsOf<Change<T>> {
  static constexpr Operations operations{
      .type = "",
      .optional = true,
      .null_is_a_value = true,
      .write =
          [](std::string& out, const void* value) {
            operations_of<std::optional<T>>().write(out, &static_cast<const Change<T>*>(value)->value);
          },
      .read =
          [](const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
            auto& change = *static_cast<Change<T>*>(value);
            change.given = true;
            if (!in.is_null()) operations_of<T>().read(in, &change.value.emplace(), field, path, problems);
          },
      .schema = [](Direction direction) { return operations_of<std::optional<T>>().schema(direction); }};
};

template <class T>
struct OperationsOf<std::vector<T>> {
  static constexpr Operations operations{
      .type = "array",
      .write =
          [](std::string& out, const void* value) {
            out += '[';
            for (bool first = true; const auto& element : *static_cast<const std::vector<T>*>(value)) {
              if (!first) out += ',';
              first = false;
              operations_of<T>().write(out, &element);
            }
            out += ']';
          },
      .read =
          [](const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
            if (!in.is_array()) return report_wrong_type(field, "array", path, problems);
            auto& list = *static_cast<std::vector<T>*>(value);
            for (const auto& element : in.get_array()) {
              const auto place = path + "[" + std::to_string(list.size()) + "]";
              const Field inner{field.name, &operations_of<T>(), nullptr, {}};
              operations_of<T>().read(element, &list.emplace_back(), inner, place, problems);
            }
          },
      .schema =
          [](Direction direction) {
            return json::object{{"type", "array"}, {"items", operations_of<T>().schema(direction)}};
          }};
};

template <class T>
struct OperationsOf<std::map<std::string, T>> {
  static constexpr Operations operations{
      .type = "object",
      .write =
          [](std::string& out, const void* value) {
            out += '{';
            for (bool first = true;
                 const auto& [name, element] : *static_cast<const std::map<std::string, T>*>(value)) {
              if (!first) out += ',';
              first = false;
              write_json(out, std::string_view(name));
              out += ':';
              operations_of<T>().write(out, &element);
            }
            out += '}';
          },
      .read =
          [](const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
            if (!in.is_object()) return report_wrong_type(field, "object", path, problems);
            auto& map = *static_cast<std::map<std::string, T>*>(value);
            for (const auto& member : in.get_object()) {
              const std::string name(member.key());
              operations_of<T>().read(member.value(), &map[name], field, path + "." + name, problems);
            }
          },
      .schema =
          [](Direction direction) {
            return json::object{{"type", "object"}, {"additionalProperties", operations_of<T>().schema(direction)}};
          }};
};

template <class T>
const Operations& operations_of() {
  if constexpr (std::is_same_v<T, std::string>)
    return string_operations;
  else if constexpr (std::is_same_v<T, bool>)
    return boolean_operations;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return integer_operations;
  else if constexpr (std::is_same_v<T, int>)
    return small_integer_operations;
  else if constexpr (std::is_same_v<T, double>)
    return number_operations;
  else if constexpr (std::is_same_v<T, Timestamp>)
    return time_operations;
  else if constexpr (std::is_same_v<T, Limit>)
    return limit_operations;
  else if constexpr (std::is_same_v<T, json::value>)
    return any_operations;
  else if constexpr (std::is_same_v<T, json::object>)
    return object_operations;
  else if constexpr (std::is_same_v<T, json::array>)
    return array_operations;
  else
    return OperationsOf<T>::operations;
}

template <class E>
std::span<const EnumName> enum_names() {
  static const auto table = [] {
    // JSON names have hyphens instead of underscores, so these texts must be stored.
    static std::vector<std::string> texts;
    std::vector<EnumName> entries;
    using Enumerators = boost::describe::describe_enumerators<E>;
    texts.reserve(boost::mp11::mp_size<Enumerators>::value);
    boost::mp11::mp_for_each<Enumerators>([&](auto enumerator) {
      auto& text = texts.emplace_back(enumerator.name);
      for (char& c : text) c = c == '_' ? '-' : c;
      entries.push_back({text, static_cast<int>(enumerator.value)});
    });
    return entries;
  }();
  return table;
}

template <auto Wanted, auto Member>
constexpr bool same_member() {
  if constexpr (std::is_same_v<decltype(Wanted), decltype(Member)>)
    return Wanted == Member;
  else
    return false;
}

/// The rule for a member from `rules(Tag<T>)`, or an empty one.
template <auto Wanted, auto... Members>
constexpr Rule rule_for(const std::tuple<RuleFor<Members>...>& given) {
  Rule found;
  std::apply([&](const auto&... on) { ((same_member<Wanted, Members>() ? void(found = on.rule) : void()), ...); },
             given);
  return found;
}

template <class T>
const Description& description_of(std::string_view name = {}) {
  static const Description description = [&] {
    Description made{name, {}};
    using Members = boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;
    boost::mp11::mp_for_each<Members>([&](auto member) {
      using Type = std::remove_cvref_t<decltype(std::declval<T&>().*member.pointer)>;
      made.fields.push_back(
          {member.name, &operations_of<Type>(),
           [](void* object) -> void* { return &(static_cast<T*>(object)->*decltype(member)::pointer); },
           rule_for<member.pointer>(rules(Tag<T>{}))});
    });
    return made;
  }();
  return description;
}

}  // namespace agw

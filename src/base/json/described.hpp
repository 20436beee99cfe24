#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_values.hpp"
#include "base/time/time.hpp"

/// A type that is sent or received as JSON is described once, in its folder's types.cpp, with Boost.Describe. The
/// description provides its JSON, the validation of requests with the error texts, and its JSON Schema:
///
///     // types.hpp
///     enum class Role { user, assistant, system, tool };
///     std::span<const EnumName> names(Tag<Role>);
///     struct NewTurn { std::string content; Role role{}; std::optional<json::object> metadata; };
///     const Description& describe(Tag<NewTurn>);
///
///     // types.cpp, which includes base/describe.hpp
///     BOOST_DESCRIBE_ENUM(Role, user, assistant, system, tool)
///     std::span<const EnumName> names(Tag<Role>) { return enum_names<Role>(); }
///     BOOST_DESCRIBE_STRUCT(NewTurn, (), (content, role, metadata))
///     constexpr auto rules(Tag<NewTurn>) { return std::tuple{On<&NewTurn::content>{{.about = "the text"}}}; }
///     const Description& describe(Tag<NewTurn>) { return description_of<NewTurn>(); }
///
/// Example: src/base/json/described_test.cpp: Described.ReadsWhatItWrote
namespace agw {

template <class T>
struct Tag {};

/// An enumerator and its name in JSON: the C++ name with `-` for `_`.
struct EnumName {
  std::string_view name;
  int value;
};

/// Properties of a member that Boost.Describe cannot express. An empty text selects the API's general one.
struct Rule {
  std::string_view about = {};       ///< one line for the API documents
  std::string_view missing = {};     ///< instead of `<name> is required`
  std::string_view wrong_type = {};  ///< instead of `<name> must be a <type>`
  std::string_view invalid = {};     ///< precedes a value outside the listed set, instead of `invalid <name>: `
  bool has_default = false;          ///< may be omitted; the member then keeps its initial value
  bool omit_empty = false;           ///< responses leave out an empty list, and false
  bool omit_null = false;            ///< responses leave out a member without a value instead of sending null
};

/// The rule of one member: `RuleFor<&NewTurn::role>{{.about = "who speaks"}}`.
template <auto Member>
struct RuleFor {
  Rule rule;
};

/// A request member for which omitted, null and a value have different meanings.
template <class T>
struct Change {
  bool given = false;
  std::optional<T> value;  ///< nullopt means null
};

/// The `limit` of a query: an integer of at least 1; values above 1000 mean 1000.
struct Limit {
  int value = 100;
};

/// A problem with a request: the path of the member (`a.b[2]` for nested ones) and a message for people.
struct Problem {
  std::string path;
  std::string message;
};
using Problems = std::vector<Problem>;

struct Field;

/// Whether a schema describes what clients send (members may be omitted) or receive (all members are present).
enum class Direction { request, response };

/// Type-erased operations on values of one C++ type; `value` points to such a value.
struct Operations {
  std::string_view type;         ///< its name in JSON Schema (`string`, `number` …), empty for any type
  bool optional = false;         ///< may be omitted
  bool null_is_a_value = false;  ///< `read` gets an explicit null
  void (*write)(std::string& out, const void* value);
  void (*read)(const json::value& in, void* value, const Field& field, const std::string& path,
               Problems& problems) = nullptr;
  /// Reads the text of a query parameter; null for types that cannot be query parameters.
  void (*read_text)(std::string_view in, void* value, const Field& field, Problems& problems) = nullptr;
  json::object (*schema)(Direction direction);
};

struct Field {
  std::string_view name;
  const Operations* operations;
  void* (*member)(void* object);  ///< the address of the member in a struct
  Rule rule;

  /// Whether a request may leave the member out. It then has no value, or keeps its initial one.
  bool may_be_omitted() const { return operations->optional || rule.has_default; }
};

/// A described struct: its fields in order of declaration.
struct Description {
  std::string_view name;  ///< of the type, for the API documents
  std::vector<Field> fields;
};

/// Appends the struct at `value` as a JSON object: all fields, in order, null for an optional one without a value.
void write_described(std::string& out, const Description& description, const void* value);

/// Fills the struct at `value` from `in`. Null counts as omitted. Reports all problems, in order of declaration.
void read_described(const json::object& in, const Description& description, void* value, const std::string& path,
                    Problems& problems);

/// Fills the struct at `value` from query parameters; `find` returns the text of a parameter, or nullopt if it is
/// missing or empty.
void read_query(const std::function<std::optional<std::string_view>(std::string_view)>& find,
                const Description& description, void* value, Problems& problems);

/// The JSON Schema of the struct.
json::object schema_of(const Description& description, Direction direction);

/// Converts between an enumerator and its name in JSON.
std::string_view enum_name(std::span<const EnumName> names, int value);
std::optional<int> enum_value(std::span<const EnumName> names, std::string_view name);

template <class E>
std::string_view to_text(E value) {
  return enum_name(names(Tag<E>{}), static_cast<int>(value));
}
template <class E>
std::optional<E> from_text(std::string_view name) {
  const auto value = enum_value(names(Tag<E>{}), name);
  return value ? std::optional<E>(static_cast<E>(*value)) : std::nullopt;
}
/// The member of a JSON object from outside; `otherwise` if it is absent or names no enumerator.
template <class E>
E enum_member(const json::object& object, std::string_view name, E otherwise) {
  return from_text<E>(string_member(object, name).value_or("")).value_or(otherwise);
}

template <class T>
concept DescribedStruct = requires { describe(Tag<T>{}); };

/// Appends a described struct or a list of them.
template <DescribedStruct T>
void write_json(std::string& out, const T& value) {
  write_described(out, describe(Tag<T>{}), &value);
}
template <DescribedStruct T>
void write_json(std::string& out, const std::vector<T>& values) {
  out += '[';
  for (const auto& value : values) {
    if (&value != values.data()) out += ',';
    write_described(out, describe(Tag<T>{}), &value);
  }
  out += ']';
}
template <class T>
  requires DescribedStruct<T>
std::string to_json(const T& value) {
  std::string out;
  write_json(out, value);
  return out;
}

}  // namespace agw

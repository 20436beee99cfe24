#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/time.hpp"

/// A type that goes over the wire is described once, in its room's types.cpp, with Boost.Describe. From the description
/// come its JSON, the checks of requests with their error texts, and its JSON Schema:
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
namespace agw {

template <class T>
struct Tag {};

/// An enumerator and its name on the wire: the C++ name with `-` for `_`.
struct EnumName {
  std::string_view name;
  int value;
};

/// What Boost.Describe has no room for. Empty texts mean the general ones of the API.
struct Rule {
  std::string_view about = {};       ///< one line for the documents
  std::string_view missing = {};     ///< instead of `<name> is required`
  std::string_view wrong_type = {};  ///< instead of `<name> must be a <type>`
  std::string_view invalid = {};     ///< before a value outside a listed set, instead of `invalid <name>: `
  bool keep = false;                 ///< may be omitted; the member then keeps its initial value
};

/// The rule of one member: `On<&NewTurn::role>{{.about = "who speaks"}}`.
template <auto Member>
struct On {
  Rule rule;
};

/// A member of a request that tells omitted, null and a value apart: only where null means something.
template <class T>
struct Change {
  bool given = false;
  std::optional<T> value;  ///< of a given one: nothing means null
};

/// A `limit` of a query: a whole number from 1 up, above 1000 taken as 1000.
struct Limit {
  int value = 100;
};

/// What is wrong with a request: the member (`a.b[2]` for nested ones) and the text for people.
struct Problem {
  std::string path;
  std::string message;
};
using Problems = std::vector<Problem>;

struct Field;

/// Whether a schema describes what clients send (members may be omitted) or what they get (all are there).
enum class Direction { request, answer };

/// What can be done with a value of one C++ type, whose address is `value`.
struct Operations {
  std::string_view type;  ///< JSON's name for it (`string`, `number` …), empty for any
  bool optional;          ///< may be omitted
  bool null_is_a_value;   ///< an explicit null is handed to `read`
  void (*write)(std::string& out, const void* value);
  void (*read)(const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems);
  /// From a query's text; null for types that no query has.
  void (*read_text)(std::string_view in, void* value, const Field& field, Problems& problems);
  json::object (*schema)(Direction direction);
};

struct Field {
  std::string_view name;
  const Operations* operations;
  std::ptrdiff_t offset;
  Rule rule;

  /// From what comes in: it then has no value, or keeps the one that it began with.
  bool may_be_omitted() const { return operations->optional || rule.keep; }
};

/// A described struct: its fields in order of declaration.
struct Description {
  std::string_view name;  ///< the type's, for documents
  std::vector<Field> fields;
};

/// Appends the struct at `value` as a JSON object: all fields, in order, null where an optional one has no value.
void write_described(std::string& out, const Description& description, const void* value);

/// Fills the struct at `value` from `in`. Null counts as omitted. All problems are found, in order of declaration.
void read_described(const json::object& in, const Description& description, void* value, const std::string& path,
                    Problems& problems);

/// Fills it from a query's parameters; `find` gives a parameter's text, nothing for a missing or empty one.
void read_query(const std::function<std::optional<std::string_view>(std::string_view)>& find,
                const Description& description, void* value, Problems& problems);

/// The JSON Schema of the struct.
json::object schema_of(const Description& description, Direction direction);

/// The name on the wire, and back.
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

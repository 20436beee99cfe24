#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "base/json/described.hpp"
#include "storage/connection.hpp"

namespace agw {

/// How a column stores a value of T. Specialize it for further types.
template <class T>
struct ColumnValue {
  static T read(const Statement& row, int column) {
    if constexpr (std::is_same_v<T, std::string>)
      return row.string(column);
    else if constexpr (std::is_same_v<T, Timestamp>)
      return row.time(column);
    else if constexpr (std::is_same_v<T, bool>)
      return row.boolean(column);
    else if constexpr (std::is_floating_point_v<T>)
      return row.real(column);
    else
      return static_cast<T>(row.integer(column));
  }
  // The value is a member of a row that outlives the statement.
  // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter)
  static const T& bound(const T& value) { return value; }
};

/// Enumerations are stored by name. Throws std::runtime_error for an unknown name.
template <class E>
  requires std::is_enum_v<E>
struct ColumnValue<E> {
  static E read(const Statement& row, int column) {
    const auto value = from_text<E>(row.text(column));
    if (!value) throw std::runtime_error("the database holds an unknown value: " + row.string(column));
    return *value;
  }
  static std::string_view bound(E value) { return to_text(value); }
};

template <class T>
struct ColumnValue<std::optional<T>> {
  static std::optional<T> read(const Statement& row, int column) {
    if (row.is_null(column)) return std::nullopt;
    return ColumnValue<T>::read(row, column);
  }
  static decltype(auto) bound(const std::optional<T>& value) {
    if constexpr (std::is_same_v<decltype(ColumnValue<T>::bound(*value)), const T&>)
      return (value);
    else
      return value ? std::optional(ColumnValue<T>::bound(*value)) : std::nullopt;
  }
};

/// Objects are stored as JSON text.
template <>
struct ColumnValue<std::optional<json::object>> {
  static std::optional<json::object> read(const Statement& row, int column) {
    auto value = row.is_null(column) ? std::nullopt : parse_json(row.text(column));
    if (!value || !value->is_object()) return std::nullopt;
    return std::move(value->get_object());
  }
  static std::optional<std::string> bound(const std::optional<json::object>& value) {
    return value ? std::optional(to_json(json::value(*value))) : std::nullopt;
  }
};

/// A column: its name in SQL and the place of its value in a row. `get` is a pointer to the member or a function that
/// returns a reference to it. For a computed value, it is a function `get(row, statement, column)` that reads it.
/// `unknown` replaces an enumerator that this program does not know.
template <class Get, class Unknown = std::nullopt_t>
struct Column {
  std::string_view name;
  Get get;
  Unknown unknown = std::nullopt;
};
template <class Get>
Column(const char*, Get) -> Column<Get>;
template <class Get, class Unknown>
Column(const char*, Get, Unknown) -> Column<Get, Unknown>;

/// The columns of a table in one order for SELECT, INSERT and the code that reads rows:
///
///     constexpr auto columns = columns_of<Thing>(Column{"id", &Thing::id}, Column{"name", &Thing::name});
///     static const auto sql = columns.insert_into("things");
///     auto insert = connection.prepare(sql);
///     columns.bind(insert, thing).run();
///
/// Example: src/storage/columns_test.cpp: ColumnsTest.ReadsWhatItHasWritten
template <class Row, class... Each>
class Columns {
public:
  static constexpr int count = sizeof...(Each);

  constexpr explicit Columns(Each... each) : columns_(each...) {}

  /// `id, name`
  std::string names() const { return list(""); }
  /// `id = ?, name = ?`
  std::string assignments() const { return list(" = ?"); }
  /// `INSERT INTO things (id, name) VALUES (?, ?)`
  std::string insert_into(std::string_view table) const {
    std::string values;
    for (std::size_t i = 0; i < sizeof...(Each); ++i) values += i == 0 ? "?" : ", ?";
    return "INSERT INTO " + std::string(table) + " (" + names() + ") VALUES (" + values + ")";
  }

  /// Reads the current row of a statement whose first columns are these.
  Row read(const Statement& statement) const {
    Row row{};
    std::apply(
        [&](const auto&... column) {
          int i = 0;
          (read_one(column, row, statement, i++), ...);
        },
        columns_);
    return row;
  }

  /// Binds the values to the next parameters of the statement.
  Statement& bind(Statement& statement, const Row& row) const {
    std::apply([&](const auto&... column) { (bind_one(column, row, statement), ...); }, columns_);
    return statement;
  }

private:
  template <class Get, class Unknown>
  static void read_one(const Column<Get, Unknown>& column, Row& row, const Statement& statement, int i) {
    if constexpr (std::is_invocable_v<Get, Row&, const Statement&, int>) {
      column.get(row, statement, i);
    } else {
      auto& member = std::invoke(column.get, row);
      using Member = std::remove_reference_t<decltype(member)>;
      if constexpr (std::is_same_v<Unknown, std::nullopt_t>)
        member = ColumnValue<Member>::read(statement, i);
      else
        member = from_text<Member>(statement.text(i)).value_or(column.unknown);
    }
  }

  template <class Get, class Unknown>
  static void bind_one(const Column<Get, Unknown>& column, const Row& row, Statement& statement) {
    const auto& member = std::invoke(column.get, row);
    statement.bind_next(ColumnValue<std::remove_cvref_t<decltype(member)>>::bound(member));
  }

  /// The names, each with `suffix`, separated by commas.
  std::string list(std::string_view suffix) const {
    std::string text;
    const auto add = [&](std::string_view name) { (text += text.empty() ? "" : ", ").append(name).append(suffix); };
    std::apply([&](const auto&... column) { (add(column.name), ...); }, columns_);
    return text;
  }

  std::tuple<Each...> columns_;
};

template <class Row, class... Each>
constexpr auto columns_of(Each... each) {
  return Columns<Row, Each...>(each...);
}

}  // namespace agw

// Tables are copied in the order of their keys, a thousand rows per transaction, so a copy that was interrupted
// continues after the last row of the target. Two small tables are copied whole at the end (`copied_whole`). Then both
// sides are read again and compared by number of rows and checksum.
//
// Statements contain names of tables and columns, which come only from this program's own migrations.

#include "storage/postgres/record_copy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/digest.hpp"

namespace agw::postgres {

namespace {

using Value = std::variant<std::optional<std::int64_t>, std::optional<double>, std::optional<std::string>>;
using Row = std::vector<Value>;

constexpr std::size_t rows_read_at_once = 100;
constexpr std::size_t rows_of_a_transaction = 1000;
constexpr std::size_t max_values_of_a_statement = 900;
static_assert(rows_read_at_once <= rows_of_a_transaction);
static_assert(max_values_of_a_statement < 999);  // the lowest limit of an SQLite

/// Copied in one transaction each, after all others. PostgreSQL numbers runs where SQLite has a hidden row number, so
/// they are inserted in that order. Triggers on other tables create samples of experiments. Both tables are small.
constexpr std::array copied_whole{std::string_view("runs"), std::string_view("experiment_samples")};

/// Tables with the records of one node each: SQLite has no column for those of other nodes.
constexpr std::array of_one_node{std::string_view("app_processes"), std::string_view("proposal_outbox")};

/// The same, unless the nodes share their files: then all nodes have the same records.
constexpr std::array of_files{std::string_view("extension_directories"), std::string_view("extension_outbox")};

bool is_copied_whole(const CopiedTable& table) { return contains(copied_whole, table.name); }

std::string in_quotes(std::string_view name) { return fmt::format("\"{}\"", name); }

std::string names_of(const std::vector<CopiedTable::Column>& columns) {
  std::string names;
  for (const auto& column : columns) names += (names.empty() ? "" : ", ") + in_quotes(column.name);
  return names;
}

/// `"a", "b"`, or with other delimiters `:a, :b`.
std::string list(const std::vector<std::string>& names, std::string_view before, std::string_view after) {
  std::string text;
  for (const auto& name : names) text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", before, name, after);
  return text;
}

ValueType type_of(std::string_view declared) {
  if (declared == "INTEGER") return ValueType::integer;
  return declared == "REAL" ? ValueType::real : ValueType::text;
}

CopiedTable table_named(Connection& file, std::string name) {
  CopiedTable table{.name = std::move(name)};
  std::vector<std::pair<std::int64_t, std::string>> keys;
  auto rows = file.prepare("SELECT name, type, pk FROM pragma_table_info(:table) ORDER BY cid");
  rows.bind(":table", table.name);
  while (rows.step()) {
    table.columns.push_back({rows.string(0), type_of(rows.text(1))});
    if (rows.integer(2) > 0) keys.emplace_back(rows.integer(2), rows.string(0));
  }
  std::ranges::sort(keys);
  for (auto& [place, column] : keys) table.key.push_back(std::move(column));
  return table;
}

/// Tables that are copied whole come last, after the triggers of the others have run.
std::vector<CopiedTable> tables_of(Connection& file) {
  std::vector<CopiedTable> tables;
  auto rows = file.prepare(
      "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND name NOT LIKE 'sqlite@_%' "
      "ESCAPE '@' AND name <> 'search_progress'");
  while (rows.step()) tables.push_back(table_named(file, rows.string(0)));
  std::ranges::sort(tables, {}, [](const auto& table) { return std::pair(is_copied_whole(table), table.name); });
  AGW_ASSERT(std::ranges::is_partitioned(tables, std::not_fn(is_copied_whole)));
  return tables;
}

std::string condition_of(const CopiedTable& table) {
  if (contains(of_files, table.name)) return "node = files_node()";
  return contains(of_one_node, table.name) ? "node = this_node()" : "true";
}

/// The rows of a table, or of one node in it.
class Rows {
public:
  Rows(Connection& connection, const CopiedTable& table)
      : connection_(connection), table_(table), condition_(connection.is_postgres() ? condition_of(table) : "true") {}

  std::uint64_t count() {
    auto row = connection_.prepare(fmt::format("SELECT count(*) FROM {} WHERE {}", in_quotes(table_.name), condition_));
    row.step();
    return static_cast<std::uint64_t>(row.integer(0));
  }

  /// The rows after the last one read, in key order. Empty at the end.
  std::vector<Row> next() {
    const auto after = last_ ? fmt::format(" AND ({}) > ({})", list(table_.key, "\"", "\""), list(table_.key, ":", ""))
                             : std::string();
    auto row = connection_.prepare(fmt::format("SELECT {} FROM {} WHERE {}{} ORDER BY {} LIMIT {}",
                                               names_of(table_.columns), in_quotes(table_.name), condition_, after,
                                               list(table_.key, "\"", "\""), rows_read_at_once));
    if (last_) bind_key(row);
    auto found = read(row);

    if (!found.empty()) last_ = found.back();
    return found;
  }

  /// Continues after the last row of `other`.
  void skip_those_of(Connection& other) {
    AGW_ASSERT(!last_);
    AGW_ASSERT(&other != &connection_);
    Rows there(other, table_);
    auto row = other.prepare(fmt::format("SELECT {} FROM {} WHERE {} ORDER BY {} LIMIT 1", names_of(table_.columns),
                                         in_quotes(table_.name), there.condition_, list(table_.key, "\"", "\" DESC")));
    auto found = read(row);
    if (!found.empty()) last_ = std::move(found.front());
  }

  std::vector<Row> all_as_inserted() {
    const auto order = table_.name != "runs"       ? list(table_.key, "\"", "\"")
                       : connection_.is_postgres() ? "number"
                                                   : "rowid";
    auto row = connection_.prepare(fmt::format("SELECT {} FROM {} WHERE {} ORDER BY {}", names_of(table_.columns),
                                               in_quotes(table_.name), condition_, order));
    return read(row);
  }

private:
  void bind_key(Statement& row) const {
    AGW_ASSERT(last_);
    AGW_ASSERT(last_->size() == table_.columns.size());
    for (const auto& name : table_.key) {
      const auto column = std::ranges::find(table_.columns, name, &CopiedTable::Column::name);
      AGW_ASSERT(column != table_.columns.end());
      const auto& value = (*last_)[static_cast<std::size_t>(column - table_.columns.begin())];
      std::visit([&](const auto& known) { row.bind((":" + name).c_str(), known); }, value);
    }
  }

  std::vector<Row> read(Statement& row) const {
    std::vector<Row> rows;
    while (row.step()) {
      auto& read = rows.emplace_back();
      for (int at = 0; const auto& column : table_.columns) {
        if (column.type == ValueType::integer) read.emplace_back(row.optional_integer(at));
        if (column.type == ValueType::real) read.emplace_back(row.optional_real(at));
        if (column.type == ValueType::text) read.emplace_back(row.optional_string(at));
        ++at;
      }
      AGW_ASSERT(read.size() == table_.columns.size());
    }
    return rows;
  }

  Connection& connection_;
  const CopiedTable& table_;
  const std::string condition_;
  std::optional<Row> last_;
};

void insert(Connection& connection, const CopiedTable& table, std::span<const Row> rows) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!rows.empty());
  AGW_ASSERT(rows.size() == 1 || rows.size() * table.columns.size() <= max_values_of_a_statement);
  std::string marks = "?";
  for (std::size_t i = 1; i < table.columns.size(); ++i) marks += ", ?";
  std::string values;
  for (std::size_t i = 0; i < rows.size(); ++i) values += fmt::format("{}({})", i == 0 ? "" : ", ", marks);
  auto statement = connection.prepare(
      fmt::format("INSERT INTO {} ({}) VALUES {}", in_quotes(table.name), names_of(table.columns), values));
  for (const auto& row : rows) {
    for (const auto& value : row) std::visit([&](const auto& known) { statement.bind_next(known); }, value);
  }
  statement.run();
  AGW_DEBUG_ASSERT(std::cmp_equal(connection.changes(), rows.size()));
}

void insert_in_pieces(Connection& connection, const CopiedTable& table, std::span<const Row> rows) {
  AGW_ASSERT(!table.columns.empty());
  const auto at_once = std::max<std::size_t>(1, max_values_of_a_statement / table.columns.size());
  for (; !rows.empty(); rows = rows.subspan(std::min(at_once, rows.size())))
    insert(connection, table, rows.first(std::min(at_once, rows.size())));
}

void add(Sha256& checksum, const std::optional<std::string>& text) {
  checksum.update(text ? fmt::format("t{}:", text->size()) : "-");
  if (text) checksum.update(*text);
}

void add(Sha256& checksum, const std::optional<std::int64_t>& number) {
  checksum.update(number ? fmt::format("i{};", *number) : "-");
}

void add(Sha256& checksum, const std::optional<double>& number) {
  checksum.update(number ? fmt::format("r{:x};", std::bit_cast<std::uint64_t>(*number)) : "-");
}

}  // namespace

RecordCopy::RecordCopy(Connection& from, Connection& to, Progress progress)
    : from_(from), to_(to), progress_(std::move(progress)), tables_(tables_of(file())) {
  AGW_ASSERT(from_.is_postgres() != to_.is_postgres());
  // Each row is copied once and read twice for the comparison.
  for (const auto& table : tables_) total_ += 3 * Rows(from_, table).count();
}

bool RecordCopy::is_target_empty() {
  return std::ranges::all_of(tables_, [this](const auto& table) {
    return !to_.prepare(fmt::format("SELECT 1 FROM {} LIMIT 1", in_quotes(table.name))).step();
  });
}

void RecordCopy::count(const std::string& table, std::uint64_t rows) {
  AGW_ASSERT(progress_);
  done_ += rows;
  progress_(table, std::min(done_, total_), total_);
}

void RecordCopy::copy() {
  for (const auto& table : tables_) {
    if (is_copied_whole(table))
      copy_whole(table);
    else
      copy(table);
  }
}

void RecordCopy::copy(const CopiedTable& table) {
  AGW_ASSERT(!is_copied_whole(table));
  Rows rows(from_, table);
  rows.skip_those_of(to_);
  count(table.name, Rows(to_, table).count());
  for (auto piece = rows.next(); !piece.empty();) {
    to_.begin();
    for (std::size_t written = 0; !piece.empty() && written < rows_of_a_transaction; piece = rows.next()) {
      insert_in_pieces(to_, table, piece);
      written += piece.size();
      count(table.name, piece.size());
    }
    to_.execute("COMMIT");
  }
}

void RecordCopy::copy_whole(const CopiedTable& table) {
  AGW_ASSERT(is_copied_whole(table));
  const auto rows = Rows(from_, table).all_as_inserted();
  to_.begin();
  to_.execute("DELETE FROM " + in_quotes(table.name));
  insert_in_pieces(to_, table, rows);
  to_.execute("COMMIT");
  count(table.name, rows.size());
}

RecordCopy::Contents RecordCopy::contents_of(Connection& connection, const CopiedTable& table) {
  Contents contents;
  Sha256 checksum;
  Rows rows(connection, table);
  for (auto piece = rows.next(); !piece.empty(); piece = rows.next()) {
    for (const auto& row : piece) {
      for (const auto& value : row) std::visit([&](const auto& known) { add(checksum, known); }, value);
    }
    contents.rows += piece.size();
    count(table.name, piece.size());
  }
  contents.checksum = to_hex(checksum.digest());
  return contents;
}

std::uint64_t RecordCopy::compare() {
  std::uint64_t rows = 0;
  for (const auto& table : tables_) {
    const auto source = contents_of(from_, table);
    const auto target = contents_of(to_, table);
    if (source != target) {
      throw CopyDiffers(fmt::format("the table {} has {} rows (checksum {:.12}) and its copy has {} ({:.12})",
                                    table.name, source.rows, source.checksum, target.rows, target.checksum));
    }
    rows += source.rows;
  }
  return rows;
}

void RecordCopy::transfer_numbering() {
  std::vector<std::string> numbered;
  auto names = file().prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'");
  while (names.step()) numbered.push_back(names.string(0));
  auto& server = from_.is_postgres() ? from_ : to_;
  AGW_ASSERT(&server != &file());
  for (const auto& table : tables_) {
    if (!contains(numbered, table.name)) continue;
    AGW_ASSERT(table.key.size() == 1);
    const auto sequence = fmt::format("pg_get_serial_sequence('{}', '{}')", table.name, table.key.front());
    if (from_.is_postgres()) {
      auto last = server.prepare(fmt::format("SELECT pg_sequence_last_value(CAST({} AS regclass))", sequence));
      last.step();
      to_.prepare("DELETE FROM sqlite_sequence WHERE name = :table").bind(":table", table.name).run();
      to_.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :last)")
          .bind(":table", table.name)
          .bind(":last", last.optional_integer(0).value_or(0))
          .run();
    } else {
      auto last = from_.prepare("SELECT seq FROM sqlite_sequence WHERE name = :table AND seq > 0");
      if (!last.bind(":table", table.name).step()) continue;
      to_.prepare(fmt::format("SELECT setval({}, :last)", sequence)).bind(":last", last.integer(0)).step();
    }
  }
}

}  // namespace agw::postgres

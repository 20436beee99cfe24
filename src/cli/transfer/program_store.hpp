#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/json/json.hpp"
#include "storage/connection.hpp"

namespace agw::cli {

/// The SQLite database of another program, which is not changed by reading it. Its tables are read by the names of
/// their columns, so that versions with more or fewer columns are read alike.
class ProgramStore {
public:
  /// Throws DatabaseError if the file cannot be opened.
  explicit ProgramStore(const std::filesystem::path& file);

  /// Calls `each` with the rows of `table`, in `order`. A row's members are its texts, those that are compressed (zstd)
  /// too, and numbers; NULL, and text that is not UTF-8, are absent. Throws DatabaseError: there is no such table, it
  /// is damaged, or a row is larger than 24 MiB.
  void for_each_row(const std::string& table, const std::string& order,
                    const std::function<void(json::object row)>& each);
  /// Only the rows in which `column` is `value`.
  void for_each_row(const std::string& table, const std::string& column, const std::string& value,
                    const std::string& order, const std::function<void(json::object row)>& each);

  /// How many rows `table` has. Throws DatabaseError.
  std::uint64_t count(const std::string& table);

private:
  void run(const std::string& sql, const std::string* value, const std::function<void(json::object row)>& each);

  Connection connection_;
};

}  // namespace agw::cli

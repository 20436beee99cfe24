#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/json/json.hpp"
#include "storage/connection.hpp"

namespace agw::cli {

/// Another program's SQLite database, which is never changed. Tables are read by column names, so versions with more or
/// fewer columns work alike.
class ProgramStore {
public:
  /// Throws DatabaseError if the file cannot be opened.
  explicit ProgramStore(const std::filesystem::path& file);

  /// Calls `each` for the rows of `table`, in `order`. A row's members are texts, including compressed ones (zstd), and
  /// numbers; NULL, and text that is not UTF-8, are omitted. Throws DatabaseError if the table does not exist or is
  /// damaged, or a row is larger than 24 MiB.
  void for_each_row(const std::string& table, const std::string& order,
                    const std::function<void(json::object row)>& each);
  /// Only the rows in which `column` equals `value`.
  void for_each_row(const std::string& table, const std::string& column, const std::string& value,
                    const std::string& order, const std::function<void(json::object row)>& each);

  /// The number of rows in `table`. Throws DatabaseError.
  std::uint64_t count(const std::string& table);

private:
  void run(const std::string& sql, const std::string* value, const std::function<void(json::object row)>& each);

  Connection connection_;
};

}  // namespace agw::cli

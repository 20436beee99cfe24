#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw::postgres {

/// A statement as PostgreSQL takes it, and what its parameters were called.
struct NumberedSql {
  std::string text;                ///< with `$1`, `$2`, …
  std::vector<std::string> names;  ///< `:id` at position 0 is `$1`; empty for a parameter without a name
};

/// Numbers the parameters `:name` (the same name, the same number) and `?` (each its own). Strings, quoted identifiers,
/// comments and casts (`::`) stay as they are.
/// Example: src/storage/postgres/parameters_test.cpp: NumberedSqlTest.NumbersNamesInTheOrderOfTheirFirstUse
NumberedSql number_parameters(std::string_view sql);

}  // namespace agw::postgres

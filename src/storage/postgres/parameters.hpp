#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw::postgres {

/// A statement in PostgreSQL's syntax and the names of its parameters.
struct NumberedSql {
  std::string text;                ///< with `$1`, `$2`, …
  std::vector<std::string> names;  ///< the name at position 0 (`:id`) is `$1`; empty for a parameter without a name
};

/// Replaces the parameters `:name` (one number per name) and `?` (one number each) by numbers. Strings, quoted
/// identifiers, comments and casts (`::`) are not changed.
/// Example: src/storage/postgres/parameters_test.cpp: NumberedSqlTest.NumbersNamesInTheOrderOfTheirFirstUse
NumberedSql number_parameters(std::string_view sql);

}  // namespace agw::postgres

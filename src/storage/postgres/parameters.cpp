#include "storage/postgres/parameters.hpp"

#include <algorithm>

#include "base/async/assert.hpp"
#include "base/text/ascii.hpp"

namespace agw::postgres {

namespace {

bool is_name(char c) { return is_alphanumeric(c) || c == '_'; }

/// The length of a token at the start of `sql` that contains no parameters, such as a string; 0 for others.
std::size_t opaque_length(std::string_view sql) {
  const auto until = [&](std::string_view end, std::size_t from) {
    const auto found = sql.find(end, from);
    return found == std::string_view::npos ? sql.size() : found + end.size();
  };
  // A doubled quote counts as the end of one string and the start of the next.
  if (sql.front() == '\'') return until("'", 1);
  if (sql.front() == '"') return until("\"", 1);
  if (sql.starts_with("--")) return until("\n", 2);
  if (sql.starts_with("/*")) return until("*/", 2);
  if (sql.starts_with("::")) return 2;
  return 0;
}

/// The number of the name; adds the name if it is new.
std::size_t number_of(std::vector<std::string>& names, std::string_view name) {
  const auto known = name.empty() ? names.end() : std::ranges::find(names, name);
  const auto number = static_cast<std::size_t>(known - names.begin()) + 1;
  if (known == names.end()) names.emplace_back(name);

  return number;
}

}  // namespace

NumberedSql number_parameters(std::string_view sql) {
  NumberedSql numbered;
  while (!sql.empty()) {
    auto length = opaque_length(sql);
    if (length > 0) {
      numbered.text += sql.substr(0, length);
    } else if (sql.front() == '?') {
      length = 1;
      numbered.text += "$" + std::to_string(number_of(numbered.names, {}));
    } else if (sql.front() == ':' && sql.size() > 1 && is_name(sql[1]) && !is_digit(sql[1])) {
      const auto end = std::ranges::find_if_not(sql.substr(1), is_name);
      length = static_cast<std::size_t>(end - sql.begin());
      numbered.text += "$" + std::to_string(number_of(numbered.names, sql.substr(0, length)));
    } else {
      length = 1;
      numbered.text += sql.front();
    }
    AGW_ASSERT(length > 0);
    AGW_ASSERT(length <= sql.size());
    sql.remove_prefix(length);
  }
  return numbered;
}

}  // namespace agw::postgres

#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.hpp"
#include "cli/command.hpp"

namespace agw::cli {

/// The options of all commands that print a list.
struct ListOptions {
  bool json = false;  ///< print JSON: the API's response unchanged, unless the command says otherwise
  std::optional<std::string> data_dir;
};
void declare(Arguments& arguments, ListOptions& options, const char* json_about = "Print the API's JSON response");

/// The gateway applies its own maximum, so this one accepts any `--limit`.
inline constexpr int max_limit = std::numeric_limits<int>::max();

/// The number as text for a query, if there is one.
std::optional<std::string> number_text(const std::optional<int>& number);

/// A column of a list: its heading, and its text for a record.
struct Column {
  std::string head;
  std::function<std::string(const json::object& record)> cell;
};
/// A text member, truncated to `limit` characters.
Column text_column(std::string head, std::string member, std::size_t limit = std::string::npos);
Column time_column(std::string head, std::string member);  ///< in this machine's zone

/// `records` as a table; empty without records.
std::string list_text(const json::value& records, const std::vector<Column>& columns);

/// Prints the array returned by `GET <path>` of the running gateway. If it is empty, reports on stderr that there are
/// no `things`.
int print_list(const ListOptions& options, const std::string& path, const std::vector<Column>& columns,
               std::string_view things);

}  // namespace agw::cli

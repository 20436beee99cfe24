#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/command.hpp"

namespace agw::cli {

/// What every command takes that prints a list.
struct ListOptions {
  bool json = false;  ///< print just what the API answered
  std::optional<std::string> data_dir;
};
void declare(Arguments& arguments, ListOptions& options);

/// Any `--limit` goes to the gateway, which has a greatest of its own.
inline constexpr int max_limit = std::numeric_limits<int>::max();

/// The number for a query, where there is one.
std::optional<std::string> number_text(const std::optional<int>& number);

/// A column of a list: its head, and what it shows of a record.
struct Column {
  std::string head;
  std::function<std::string(const json::object& record)> cell;
};
/// At most `limit` characters of it.
Column text_column(std::string head, std::string member, std::size_t limit = std::string::npos);
Column time_column(std::string head, std::string member);  ///< in this machine's zone

/// `records` as a table; empty without any.
std::string list_text(const json::value& records, const std::vector<Column>& columns);

/// Prints the array that `GET <path>` of the running gateway answers. Without any record it says on stderr that there
/// are no `things`.
int print_list(const ListOptions& options, const std::string& path, const std::vector<Column>& columns,
               std::string_view things);

}  // namespace agw::cli

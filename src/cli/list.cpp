#include "cli/list.hpp"

#include <iostream>

#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/client/client.hpp"
#include "cli/output/json_output.hpp"
#include "cli/output/table.hpp"

namespace agw::cli {

namespace {

Task<int> print_answer(const FoundGateway& gateway, std::string path) {
  print_json_text(co_await Client(gateway).get_text(std::move(path)));
  co_return 0;
}

Task<int> print_table(const FoundGateway& gateway, std::string path, const std::vector<Column>& columns,
                      std::string_view things) {
  const auto text = list_text(co_await Client(gateway).get(std::move(path)), columns);
  std::cout << text;
  if (text.empty()) std::cerr << "There are no " << things << ".\n";
  co_return 0;
}

}  // namespace

void declare(Arguments& arguments, ListOptions& options, const char* json_about) {
  arguments.flag("--json", options.json, json_about);
  arguments.option("--data-dir", options.data_dir, data_dir_about);
}

std::optional<std::string> number_text(const std::optional<int>& number) {
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

Column text_column(std::string head, std::string member, std::size_t limit) {
  return {std::move(head),
          [member, limit](const json::object& record) { return one_line(text_or_json(record, member), limit); }};
}

Column time_column(std::string head, std::string member) {
  return {std::move(head), [member](const json::object& record) { return local_time(text_or_json(record, member)); }};
}

std::string list_text(const json::value& records, const std::vector<Column>& columns) {
  if (!records.is_array() || records.get_array().empty()) return "";
  std::vector<Row> rows(1);
  for (const auto& column : columns) rows.front().push_back(column.head);
  for (const auto& record : records.get_array()) {
    auto& row = rows.emplace_back();
    for (const auto& column : columns) row.push_back(column.cell(record.as_object()));
  }
  return table(rows);
}

int print_list(const ListOptions& options, const std::string& path, const std::vector<Column>& columns,
               std::string_view things) {
  Loop loop;
  const auto gateway = find_gateway(options.data_dir);
  return run(loop, options.json ? print_answer(gateway, path) : print_table(gateway, path, columns, things));
}

}  // namespace agw::cli

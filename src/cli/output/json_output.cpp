#include "cli/output/json_output.hpp"

#include <iostream>

#include "base/printable.hpp"

namespace agw::cli {

void print_json(const json::value& value) { print_json_text(to_json(value)); }

void print_json_text(std::string_view text) { std::cout << printable_json(text) << '\n'; }

}  // namespace agw::cli

#pragma once

#include <string>
#include <vector>

namespace agw::cli {

/// The cells of a line.
using Row = std::vector<std::string>;

/// Lines of text with the columns one below the other, two spaces apart, nothing behind the last. The first row is the
/// head. Cells must be printable and on one line.
std::string table(const std::vector<Row>& rows);

}  // namespace agw::cli

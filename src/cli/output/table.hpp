#pragma once

#include <string>
#include <vector>

namespace agw::cli {

/// The cells of a line.
using Row = std::vector<std::string>;

/// A table with aligned columns, two spaces apart, without trailing spaces. The first row is the heading. Cells must be
/// printable and on one line.
std::string table(const std::vector<Row>& rows);

}  // namespace agw::cli

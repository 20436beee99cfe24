#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace agw::cli {

/// The cells of a line.
using Row = std::vector<std::string>;

/// A table with aligned columns, two spaces apart, without trailing spaces. The first row is the heading. Cells must be
/// printable and on one line.
/// Example: src/cli/output/table_test.cpp: Table.PutsColumnsOneBelowTheOther
std::string table(const std::vector<Row>& rows);

/// A bar chart of non-negative values, scaled to the largest: `▂▁█▄`.
std::string sparkline(const std::vector<double>& values);

/// A record's ISO 8601 time in the local zone, to the minute: `2026-01-02 03:04`. Other texts are not changed.
std::string local_time(std::string_view iso8601);

/// `1 thread`, `2 threads`.
std::string count_text(std::uint64_t count, std::string_view one, std::string_view many);

/// `5 s`, `2 min 5 s`, `3 h 2 min`, `4 d 3 h`.
std::string duration_text(double seconds);

}  // namespace agw::cli

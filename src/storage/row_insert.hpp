#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "storage/connection.hpp"

namespace agw {

/// A write that inserts one row. The writer passes the rows of adjacent callers to one call of `insert_all`, because
/// one statement for many rows is cheaper than many statements.
/// Example: src/storage/row_insert_test.cpp: RowInsertTest.RowsThatWaitTogetherAreInsertedTogether
struct RowInsert {
  using Rows = std::span<const void* const>;
  using InsertAll = void (*)(Connection& connection, Rows rows);

  InsertAll insert_all;
  std::shared_ptr<const void> row;

  /// Inserts only this row.
  void operator()(Connection& connection) const {
    const void* alone = row.get();
    insert_all(connection, {&alone, 1});
  }
};

/// Wraps a function `insert_all(Connection&, std::span<const Row* const>)`.
template <auto insert_all, class Row>
RowInsert row_insert(std::shared_ptr<const Row> row) {
  const auto with_types = [](Connection& connection, RowInsert::Rows rows) {
    std::vector<const Row*> typed(rows.size());
    std::ranges::transform(rows, typed.begin(), [](const void* each) { return static_cast<const Row*>(each); });
    insert_all(connection, typed);
  };
  return {with_types, std::move(row)};
}

}  // namespace agw

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/extensions/types.hpp"
#include "storage/connection.hpp"

/// The SQL of the extensions' tables. All throw DatabaseError.
namespace agw::extension_store {

/// A record and its position in the order of insertion.
struct Row {
  std::int64_t position = 0;
  Extension extension;
};

/// Oldest first.
std::vector<Row> all(Connection& connection);
std::optional<Row> find(Connection& connection, std::string_view id);
std::optional<Row> find_named(Connection& connection, std::string_view name);

/// Returns the new row's position.
std::int64_t insert(Connection& connection, const Extension& extension);
/// Replaces the record with the same id.
void update(Connection& connection, const Extension& extension);
void remove(Connection& connection, std::string_view id);

/// Built-ins that a person deleted are not added again.
void remember_deleted_built_in(Connection& connection, std::string_view name);
bool is_deleted_built_in(Connection& connection, std::string_view name);

/// The content id of the shipped extensions that were written last; empty before the first time.
std::string written_built_ins(Connection& connection);
void set_written_built_ins(Connection& connection, std::string_view content_id);

}  // namespace agw::extension_store

#pragma once

#include <span>

#include "storage/connection.hpp"
#include "storage/migration.hpp"
#include "storage/postgres/address.hpp"

namespace agw::postgres {

/// Checks that the gateway can work with the database: a server of version 15 or newer that accepts writes, text in
/// UTF-8 compared byte by byte, a role that may create tables, no tables of another program or of a newer gateway. Then
/// applies the missing migrations in one transaction. The caller holds the owner's lock (storage/postgres/owner.hpp).
/// Throws StartError: 5 if the database belongs to another program or a newer gateway, else 1; the message names the
/// database and the remedy. Throws DatabaseError.
/// Example: src/storage/postgres/schema_test.cpp: SchemaTest.ADatabaseGetsTheTablesOnce
void prepare_database(Connection& connection, const Address& address, std::span<const Migration> migrations);

/// The same checks without a change, for `agw doctor`.
void check_database(Connection& connection, const Address& address, std::span<const Migration> migrations);

}  // namespace agw::postgres

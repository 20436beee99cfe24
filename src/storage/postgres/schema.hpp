#pragma once

#include <filesystem>
#include <span>

#include "storage/connection.hpp"
#include "storage/migration.hpp"
#include "storage/postgres/address.hpp"

namespace agw::postgres {

/// Checks that the database is suitable: a server of version 15 or newer that accepts writes, text in UTF-8 with
/// bytewise comparison, a role that may create tables, no tables of another program or of a newer gateway. Then applies
/// the missing migrations in one transaction. The caller holds the owner's lock (storage/postgres/owner.hpp). Throws
/// StartError: 5 if the database belongs to another program or a newer gateway, else 1; the message names the database
/// and the remedy. Throws DatabaseError.
/// Example: src/storage/postgres/schema_test.cpp: SchemaTest.ADatabaseGetsTheTablesOnce
void prepare_database(Connection& connection, const Address& address, std::span<const Migration> migrations);

/// For a node: binds the data directory to the cluster that it is first used with, because another cluster would treat
/// its files of agents and jobs as new ones. `file` stores the cluster's id. Throws StartError (1).
void join_cluster(Connection& connection, const Address& address, const std::filesystem::path& file);

/// The same checks without changes, for `agw doctor`.
void check_database(Connection& connection, const Address& address, std::span<const Migration> migrations);

}  // namespace agw::postgres

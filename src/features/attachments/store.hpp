#pragma once

#include <optional>
#include <string>

#include "features/attachments/types.hpp"
#include "storage/connection.hpp"

/// The SQL of attachments. All throw DatabaseError.
namespace agw::attachment_store {

void insert(Connection& connection, const Attachment& attachment, Timestamp now);
std::optional<Attachment> find(Connection& connection, const std::string& id);

}  // namespace agw::attachment_store

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "features/attachments/types.hpp"
#include "storage/connection.hpp"

/// The SQL of attachments. All throw DatabaseError.
namespace agw::attachment_store {

void insert(Connection& connection, const Attachment& attachment, Timestamp now);
std::optional<Attachment> find(Connection& connection, const std::string& id);

void insert_picture(Connection& connection, const std::string& thread_id, const Attachment& picture, Timestamp now);
/// The ids of a few of the thread's pictures of `size` bytes, newest first.
std::vector<std::string> pictures_of_size(Connection& connection, const std::string& thread_id, std::int64_t size);
/// Removes the thread's oldest pictures until `count` with `bytes` in total are left.
void trim_pictures(Connection& connection, const std::string& thread_id, std::int64_t count, std::int64_t bytes);
void copy_pictures(Connection& connection, const std::string& from_thread, const std::string& to_thread);
/// The ids of removed attachments whose files have to be deleted.
std::vector<std::string> unused(Connection& connection);
void remove_unused(Connection& connection, const std::string& id);

}  // namespace agw::attachment_store

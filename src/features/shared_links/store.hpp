#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/shared_links/types.hpp"
#include "storage/connection.hpp"

/// The SQL of shared links. All throw DatabaseError.
namespace agw::shared_link_store {

/// The number of links, and their bytes in total.
struct Usage {
  std::int64_t count = 0;
  std::int64_t size = 0;
};

bool has_thread(Connection& connection, std::string_view thread_id);
/// `content`: in base64url.
void insert(Connection& connection, const SharedLink& link, std::string_view content);
/// Newest first, without those that have expired at `now`. `thread_id`: all threads if there is none.
std::vector<SharedLink> list(Connection& connection, const std::optional<std::string>& thread_id, Timestamp now);
/// The content in base64url, as it was inserted; nullopt if the link is unknown or has expired.
std::optional<SharedContent> content(Connection& connection, std::string_view id, Timestamp now);
/// Returns whether it existed and had not expired.
bool remove(Connection& connection, std::string_view id, Timestamp now);
void remove_expired(Connection& connection, Timestamp now);
Usage usage(Connection& connection);
/// When the next link expires; nullopt if there is none.
std::optional<Timestamp> next_expiry(Connection& connection);

}  // namespace agw::shared_link_store

#include "features/shared_links/store.hpp"

#include "base/async/assert.hpp"
#include "storage/columns.hpp"

namespace agw::shared_link_store {

namespace {

constexpr auto columns =
    columns_of<SharedLink>(Column{"id", &SharedLink::id}, Column{"thread_id", &SharedLink::thread_id},
                           Column{"created_at", &SharedLink::created_at}, Column{"expires_at", &SharedLink::expires_at},
                           Column{"size", &SharedLink::size});

}  // namespace

bool has_thread(Connection& connection, std::string_view thread_id) {
  auto row = connection.prepare("SELECT 1 FROM threads WHERE id = :id");
  return row.bind(":id", thread_id).step();
}

void insert(Connection& connection, const SharedLink& link, std::string_view content) {
  AGW_ASSERT(link.created_at < link.expires_at);
  connection
      .prepare(
          "INSERT INTO shared_links (id, thread_id, created_at, expires_at, size, content) "
          "VALUES (:id, :thread, :created, :expires, :size, :content)")
      .bind(":id", link.id)
      .bind(":thread", link.thread_id)
      .bind(":created", link.created_at)
      .bind(":expires", link.expires_at)
      .bind(":size", link.size)
      .bind(":content", content)
      .run();
}

std::vector<SharedLink> list(Connection& connection, const std::optional<std::string>& thread_id, Timestamp now) {
  auto sql = "SELECT " + columns.names() + " FROM shared_links WHERE expires_at > :now";
  if (thread_id) sql += " AND thread_id = :thread";
  auto rows = connection.prepare(sql + " ORDER BY created_at DESC, id");
  rows.bind(":now", now);
  if (thread_id) rows.bind(":thread", *thread_id);
  std::vector<SharedLink> links;
  while (rows.step()) links.push_back(columns.read(rows));
  return links;
}

std::optional<SharedContent> content(Connection& connection, std::string_view id, Timestamp now) {
  auto row = connection.prepare("SELECT content, expires_at FROM shared_links WHERE id = :id AND expires_at > :now");
  row.bind(":id", id).bind(":now", now);
  if (!row.step()) return std::nullopt;
  return SharedContent{.bytes = row.string(0), .expires_at = row.time(1)};
}

bool remove(Connection& connection, std::string_view id, Timestamp now) {
  connection.prepare("DELETE FROM shared_links WHERE id = :id AND expires_at > :now")
      .bind(":id", id)
      .bind(":now", now)
      .run();
  AGW_ASSERT(connection.changes() <= 1);
  return connection.changes() > 0;
}

void remove_expired(Connection& connection, Timestamp now) {
  connection.prepare("DELETE FROM shared_links WHERE expires_at <= :now").bind(":now", now).run();
}

Usage usage(Connection& connection) {
  auto row = connection.prepare("SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM shared_links");
  row.step();
  return {.count = row.integer(0), .size = row.integer(1)};
}

std::optional<Timestamp> next_expiry(Connection& connection) {
  auto row = connection.prepare("SELECT min(expires_at) FROM shared_links");
  row.step();
  return row.optional_time(0);
}

}  // namespace agw::shared_link_store

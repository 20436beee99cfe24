#include "features/attachments/store.hpp"

namespace agw::attachment_store {

void insert(Connection& connection, const Attachment& attachment, Timestamp now) {
  connection
      .prepare(
          "INSERT INTO attachments (id, name, mime, size, created_at) VALUES (:id, :name, :mime, :size, :now)"
          " ON CONFLICT DO NOTHING")
      .bind(":id", attachment.id)
      .bind(":name", attachment.name)
      .bind(":mime", attachment.mime)
      .bind(":size", attachment.size)
      .bind(":now", now)
      .run();
}

std::optional<Attachment> find(Connection& connection, const std::string& id) {
  auto row = connection.prepare("SELECT id, name, mime, size FROM attachments WHERE id = :id");
  row.bind(":id", id);
  if (!row.step()) return std::nullopt;
  return Attachment{row.string(0), row.string(1), row.string(2), row.integer(3)};
}

void insert_picture(Connection& connection, const std::string& thread_id, const Attachment& picture, Timestamp now) {
  insert(connection, picture, now);
  connection
      .prepare(
          "INSERT INTO thread_pictures (thread_id, attachment_id, size) VALUES (:thread, :id, :size)"
          " ON CONFLICT DO NOTHING")
      .bind(":thread", thread_id)
      .bind(":id", picture.id)
      .bind(":size", picture.size)
      .run();
}

std::vector<std::string> pictures_of_size(Connection& connection, const std::string& thread_id, std::int64_t size) {
  constexpr std::int64_t few = 8;
  std::vector<std::string> ids;
  auto row = connection.prepare(
      "SELECT attachment_id FROM thread_pictures WHERE thread_id = :thread AND size = :size"
      " ORDER BY attachment_id DESC LIMIT :few");
  row.bind(":thread", thread_id).bind(":size", size).bind(":few", few);
  while (row.step()) ids.push_back(row.string(0));
  return ids;
}

void trim_pictures(Connection& connection, const std::string& thread_id, std::int64_t count, std::int64_t bytes) {
  connection
      .prepare(
          "DELETE FROM thread_pictures WHERE thread_id = :thread AND attachment_id IN (SELECT attachment_id FROM "
          "(SELECT attachment_id, row_number() OVER newest AS place, sum(size) OVER newest AS total FROM "
          "thread_pictures WHERE thread_id = :thread WINDOW newest AS (ORDER BY attachment_id DESC)) AS pictures "
          "WHERE place > :count OR total > :bytes)")
      .bind(":thread", thread_id)
      .bind(":count", count)
      .bind(":bytes", bytes)
      .run();
}

void copy_pictures(Connection& connection, const std::string& from_thread, const std::string& to_thread) {
  connection
      .prepare(
          "INSERT INTO thread_pictures (thread_id, attachment_id, size) "
          "SELECT :to, attachment_id, size FROM thread_pictures WHERE thread_id = :from")
      .bind(":to", to_thread)
      .bind(":from", from_thread)
      .run();
}

std::vector<std::string> unused(Connection& connection) {
  std::vector<std::string> ids;
  auto row = connection.prepare("SELECT id FROM unused_attachments");
  while (row.step()) ids.push_back(row.string(0));
  return ids;
}

void remove_unused(Connection& connection, const std::string& id) {
  connection.prepare("DELETE FROM unused_attachments WHERE id = :id").bind(":id", id).run();
}

}  // namespace agw::attachment_store

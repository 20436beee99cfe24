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

}  // namespace agw::attachment_store

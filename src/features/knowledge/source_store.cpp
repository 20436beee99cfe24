#include "features/knowledge/source_store.hpp"

namespace agw::source_store {

namespace {

#define SOURCE_COLUMNS "path, inode, size, modified_ns, changed_ns, content, problem, page, compiled, page_content"

constexpr const char* put_statement =
    "INSERT OR REPLACE INTO knowledge_sources (" SOURCE_COLUMNS
    ") VALUES (:path, :inode, :size, :modified_ns, :changed_ns, :content, :problem, :page, "
    ":compiled, :page_content)";

KnownSource read(const Statement& row) {
  return {.path = row.string(0),
          .stamp = {.inode = static_cast<std::uint64_t>(row.integer(1)),
                    .size = static_cast<std::uint64_t>(row.integer(2)),
                    .modified_ns = row.integer(3),
                    .changed_ns = row.integer(4)},
          .content = row.string(5),
          .problem = row.optional_string(6),
          .page = row.optional_string(7),
          .compiled = row.optional_string(8),
          .page_content = row.optional_string(9)};
}

}  // namespace

std::map<std::string, KnownSource> all(Connection& connection) {
  std::map<std::string, KnownSource> sources;
  auto row = connection.prepare("SELECT " SOURCE_COLUMNS " FROM knowledge_sources ORDER BY path");
  while (row.step()) sources.emplace_hint(sources.end(), row.string(0), read(row));
  return sources;
}

std::optional<KnownSource> find(Connection& connection, const std::string& path) {
  auto row = connection.prepare("SELECT " SOURCE_COLUMNS " FROM knowledge_sources WHERE path = :path");
  row.bind(":path", path);
  if (!row.step()) return std::nullopt;
  return read(row);
}

void put(Connection& connection, const KnownSource& source) {
  connection.prepare(put_statement)
      .bind(":path", source.path)
      .bind(":inode", source.stamp.inode)
      .bind(":size", source.stamp.size)
      .bind(":modified_ns", source.stamp.modified_ns)
      .bind(":changed_ns", source.stamp.changed_ns)
      .bind(":content", source.content)
      .bind(":problem", source.problem)
      .bind(":page", source.page)
      .bind(":compiled", source.compiled)
      .bind(":page_content", source.page_content)
      .run();
}

void remove(Connection& connection, const std::string& path) {
  connection.prepare("DELETE FROM knowledge_sources WHERE path = :path").bind(":path", path).run();
}

}  // namespace agw::source_store

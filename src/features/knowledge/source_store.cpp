#include "features/knowledge/source_store.hpp"

namespace agw::source_store {

namespace {

#define SOURCE_COLUMNS                                                                                    \
  "path, inode, size, modified_ns, changed_ns, content, problem, page, compiled, page_content, summary, " \
  "summary_of"

constexpr const char* put_statement =
    "INSERT INTO knowledge_sources (path, inode, size, modified_ns, changed_ns, content, problem, page, compiled, "
    "page_content) VALUES (:path, :inode, :size, :modified_ns, :changed_ns, :content, :problem, :page, :compiled, "
    ":page_content) ON CONFLICT (path) DO UPDATE SET inode = :inode, size = :size, modified_ns = :modified_ns, "
    "changed_ns = :changed_ns, content = :content, problem = :problem, page = :page, compiled = :compiled, "
    "page_content = :page_content";

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
          .page_content = row.optional_string(9),
          .summary = row.optional_string(10),
          .summary_of = row.optional_string(11)};
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

void move(Connection& connection, const std::string& from, const KnownSource& source) {
  connection.prepare("UPDATE knowledge_sources SET path = :path, page = :page WHERE path = :from")
      .bind(":path", source.path)
      .bind(":page", source.page)
      .bind(":from", from)
      .run();
}

void put_summary(Connection& connection, const std::string& path, const std::string& content,
                 const std::optional<std::string>& summary) {
  connection
      .prepare(
          "UPDATE knowledge_sources SET summary = :summary, summary_of = :content, compiled = iif(:summary IS NULL, "
          "compiled, NULL) WHERE path = :path AND content = :content")
      .bind(":summary", summary)
      .bind(":content", content)
      .bind(":path", path)
      .run();
}

std::vector<KnownSource> without_summary(Connection& connection, int limit) {
  std::vector<KnownSource> sources;
  auto row = connection.prepare("SELECT " SOURCE_COLUMNS
                                " FROM knowledge_sources WHERE problem IS NULL AND page_content IS NOT NULL AND "
                                "compiled = content AND summary_of IS NOT content ORDER BY modified_ns DESC, path "
                                "LIMIT :limit");
  row.bind(":limit", limit);
  while (row.step()) sources.push_back(read(row));
  return sources;
}

void remove(Connection& connection, const std::string& path) {
  connection.prepare("DELETE FROM knowledge_sources WHERE path = :path").bind(":path", path).run();
}

}  // namespace agw::source_store

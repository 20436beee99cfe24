#include "features/knowledge/source_store.hpp"

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "storage/columns.hpp"

namespace agw::source_store {

namespace {

constexpr auto columns = columns_of<KnownSource>(
    Column{"path", &KnownSource::path}, Column{"inode", [](auto& source) -> auto& { return source.stamp.inode; }},
    Column{"size", [](auto& source) -> auto& { return source.stamp.size; }},
    Column{"modified_ns", [](auto& source) -> auto& { return source.stamp.modified_ns; }},
    Column{"changed_ns", [](auto& source) -> auto& { return source.stamp.changed_ns; }},
    Column{"content", &KnownSource::content}, Column{"problem", &KnownSource::problem},
    Column{"page", &KnownSource::page}, Column{"compiled", &KnownSource::compiled},
    Column{"page_content", &KnownSource::page_content}, Column{"summary", &KnownSource::summary},
    Column{"summary_of", &KnownSource::summary_of});

constexpr const char* put_statement =
    "INSERT INTO knowledge_sources (path, inode, size, modified_ns, changed_ns, content, problem, page, compiled, "
    "page_content) VALUES (:path, :inode, :size, :modified_ns, :changed_ns, :content, :problem, :page, :compiled, "
    ":page_content) ON CONFLICT (path) DO UPDATE SET inode = :inode, size = :size, modified_ns = :modified_ns, "
    "changed_ns = :changed_ns, content = :content, problem = :problem, page = :page, compiled = :compiled, "
    "page_content = :page_content";

std::string select(std::string_view rest) {
  return fmt::format("SELECT {} FROM knowledge_sources {}", columns.names(), rest);
}

}  // namespace

std::unordered_map<std::string, KnownSource> all(Connection& connection) {
  std::unordered_map<std::string, KnownSource> sources;
  static const auto sql = select("");
  auto row = connection.prepare(sql);
  while (row.step()) {
    auto source = columns.read(row);
    auto path = source.path;
    sources.emplace(std::move(path), std::move(source));
  }
  return sources;
}

std::optional<KnownSource> find(Connection& connection, const std::string& path) {
  static const auto sql = select("WHERE path = :path");
  auto row = connection.prepare(sql);
  row.bind(":path", path);
  if (!row.step()) return std::nullopt;
  return columns.read(row);
}

void put(Connection& connection, const KnownSource& source) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!source.path.empty());
  AGW_ASSERT(source.problem || source.page);
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
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(from != source.path);
  AGW_ASSERT(source.page);
  connection.prepare("UPDATE knowledge_sources SET path = :path, page = :page WHERE path = :from")
      .bind(":path", source.path)
      .bind(":page", source.page)
      .bind(":from", from)
      .run();
}

void put_summary(Connection& connection, const std::string& path, const std::string& content,
                 const std::optional<std::string>& summary) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!summary || !summary->empty());
  connection
      .prepare(
          "UPDATE knowledge_sources SET summary = :summary, summary_of = :content, compiled = CASE WHEN :summary IS "
          "NULL THEN compiled END WHERE path = :path AND content = :content")
      .bind(":summary", summary)
      .bind(":content", content)
      .bind(":path", path)
      .run();
}

std::vector<KnownSource> without_summary(Connection& connection, int limit) {
  std::vector<KnownSource> sources;
  static const auto sql = select(
      "WHERE problem IS NULL AND page_content IS NOT NULL AND compiled = content AND summary_of IS DISTINCT FROM "
      "content ORDER BY modified_ns DESC, path LIMIT :limit");
  auto row = connection.prepare(sql);
  row.bind(":limit", limit);
  while (row.step()) sources.push_back(columns.read(row));
  return sources;
}

void remove(Connection& connection, const std::string& path) {
  connection.prepare("DELETE FROM knowledge_sources WHERE path = :path").bind(":path", path).run();
}

}  // namespace agw::source_store

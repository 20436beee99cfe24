#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/files/directory.hpp"
#include "storage/connection.hpp"

/// The SQL of raw sources.
namespace agw::source_store {

/// What is known of a raw file. Contents are named by their content_id.
struct KnownSource {
  std::string path;  ///< relative to the data directory
  FileStamp stamp;   ///< of the version that was read last
  std::string content;
  std::optional<std::string> problem;       ///< why it cannot become a page
  std::optional<std::string> page;          ///< the path of the page made from it
  std::optional<std::string> compiled;      ///< what it said when the page was made
  std::optional<std::string> page_content;  ///< what the page said then
  std::optional<std::string> summary;       ///< a model's
  std::optional<std::string> summary_of;    ///< the content for which one was sought
};

std::map<std::string, KnownSource> all(Connection& connection);
std::optional<KnownSource> find(Connection& connection, const std::string& path);
/// All but the summary, which stays what it was.
void put(Connection& connection, const KnownSource& source);
/// It is at `source.path` now, and its page at `source.page`.
void move(Connection& connection, const std::string& from, const KnownSource& source);
/// Where the source still says `content`. With a summary its page counts as not made.
void put_summary(Connection& connection, const std::string& path, const std::string& content,
                 const std::optional<std::string>& summary);
/// Sources whose pages were made as they are and for whose content no summary was sought, newest first.
std::vector<KnownSource> without_summary(Connection& connection, int limit);
void remove(Connection& connection, const std::string& path);

}  // namespace agw::source_store

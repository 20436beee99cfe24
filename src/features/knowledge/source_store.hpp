#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/files/directory.hpp"
#include "storage/connection.hpp"

/// The SQL of raw sources.
namespace agw::source_store {

/// The record of a raw file. Contents are identified by their content_id.
struct KnownSource {
  std::string path;  ///< relative to the data directory
  FileStamp stamp;   ///< of the last version that was read
  std::string content;
  std::optional<std::string> problem;       ///< why it cannot become a page
  std::optional<std::string> page;          ///< the path of the page compiled from it
  std::optional<std::string> compiled;      ///< the source's content when the page was compiled
  std::optional<std::string> page_content;  ///< the page's content as compiled
  std::optional<std::string> summary;       ///< written by a model
  std::optional<std::string> summary_of;    ///< the content for which a summary was requested
};

std::unordered_map<std::string, KnownSource> all(Connection& connection);
std::optional<KnownSource> find(Connection& connection, const std::string& path);
/// Stores all members except for the summary.
void put(Connection& connection, const KnownSource& source);
/// Changes the paths of the source at `from` and of its page to `source.path` and `source.page`.
void move(Connection& connection, const std::string& from, const KnownSource& source);
/// Stores the result if the source's content is still `content`. If there is a summary, the page counts as not
/// compiled, so that it is written again.
void put_summary(Connection& connection, const std::string& path, const std::string& content,
                 const std::optional<std::string>& summary);
/// Sources with an up-to-date page whose content has not been summarised yet, newest first.
std::vector<KnownSource> without_summary(Connection& connection, int limit);
void remove(Connection& connection, const std::string& path);

}  // namespace agw::source_store

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/beneath.hpp"
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
};

std::map<std::string, KnownSource> all(Connection& connection);
std::optional<KnownSource> find(Connection& connection, const std::string& path);
void put(Connection& connection, const KnownSource& source);
void remove(Connection& connection, const std::string& path);

}  // namespace agw::source_store

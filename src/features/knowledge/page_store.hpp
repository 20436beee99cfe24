#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "features/knowledge/page.hpp"
#include "features/knowledge/types.hpp"
#include "storage/connection.hpp"

/// The SQL of pages and of the links between them.
namespace agw::page_store {

/// The version of each page's file that is indexed, by path.
std::map<std::string, FileStamp> stamps(Connection& connection);

/// Replaces the indexed version of the page. If another file has its slug, the page gets a different one.
void put(Connection& connection, const IndexedPage& page);
void remove(Connection& connection, const std::string& path);

/// Merges segments of the full-text index after many changes, one short step per call. Returns false when done.
enum class Merge { begin, resume };
bool merge_some(Connection& connection, Merge merge);

/// The pages of a scope, or of all scopes without one, sorted by slug.
std::vector<KnowledgePage> list(Connection& connection, const std::optional<std::string>& scope);

/// A page's row without the text.
struct StoredPage {
  std::int64_t number = 0;
  std::string path;
  std::string scope;
  std::string slug;
  std::string title;
  std::string summary;
  std::vector<std::string> sources;
  Timestamp updated_at;
};
/// The page in that scope. Without a scope, the shared page, else the first one.
std::optional<StoredPage> find(Connection& connection, const std::string& slug,
                               const std::optional<std::string>& scope);

/// The target of a link on a page of `scope`: the page in that scope, else the shared one.
struct LinkedPage {
  std::string slug;
  std::string title;
};
std::vector<LinkedPage> links_of(Connection& connection, const StoredPage& page);
/// The slugs of the pages that link to the page.
std::vector<std::string> backlinks_of(Connection& connection, const StoredPage& page);

/// The links from pages of a scope, or of all scopes without one, to other pages. Sorted by the linking page.
std::vector<KnowledgeLink> links(Connection& connection, const std::optional<std::string>& scope);

/// The number of pages, and the highest row number.
struct Extent {
  std::int64_t pages = 0;
  std::int64_t last = 0;
};
Extent extent(Connection& connection);

/// The totals over all pages.
struct Totals {
  std::int64_t pages = 0;
  std::int64_t words = 0;
  std::int64_t links = 0;
};
Totals totals(Connection& connection);

/// A broken link, and the scope of the page that contains it.
struct PlacedLink {
  std::string scope;
  BrokenLink link;
};
/// The links whose page does not exist.
std::vector<PlacedLink> broken_links(Connection& connection);

/// Identifies a page.
struct PlacedPage {
  std::string scope;
  std::string slug;
};
/// The pages that no other page links to.
std::vector<PlacedPage> orphans(Connection& connection);

/// A page and the sources that it names.
struct PageSources {
  std::string path;
  std::string scope;
  std::string slug;
  std::vector<std::string> sources;
  Timestamp updated_at;
};
/// The pages that name at least one source.
std::vector<PageSources> sources(Connection& connection);

/// A page and the path of its file, relative to the data directory.
struct PlacedFile {
  std::string path;
  std::string scope;
  std::string slug;
};
/// The files of all pages.
std::vector<PlacedFile> places(Connection& connection);

/// The number of pages in each scope.
std::map<std::string, std::int64_t> count_by_scope(Connection& connection);

}  // namespace agw::page_store

#pragma once

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

/// Puts the page in the place of what is indexed of its file. A slug that another file has is made a different one.
void put(Connection& connection, const IndexedPage& page);
void remove(Connection& connection, const std::string& path);

/// Makes the parts of the search's index that many changes have left one, a little at a time. False when it is done.
enum class Merge { begin, go_on };
bool merge_some(Connection& connection, Merge merge);

/// By slug; of all scopes without one.
std::vector<KnowledgePage> list(Connection& connection, const std::optional<std::string>& scope);

/// A page as its row has it: all but the text.
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
/// Of that scope; without one the shared page, else the first that there is.
std::optional<StoredPage> find(Connection& connection, const std::string& slug,
                               const std::optional<std::string>& scope);

/// The page that a link on a page of `scope` leads to: the one of that scope, else the shared one.
struct LinkedPage {
  std::string slug;
  std::string title;
};
std::vector<LinkedPage> links_of(Connection& connection, const StoredPage& page);
/// The slugs of the pages that link to it.
std::vector<std::string> backlinks_of(Connection& connection, const StoredPage& page);

/// What all pages come to.
struct Totals {
  std::int64_t pages = 0;
  std::int64_t words = 0;
  std::int64_t links = 0;
};
Totals totals(Connection& connection);

/// A broken link and the scope of the page that has it.
struct PlacedLink {
  std::string scope;
  BrokenLink link;
};
/// The links that lead to no page.
std::vector<PlacedLink> broken_links(Connection& connection);

/// What tells a page from all others.
struct PlacedPage {
  std::string scope;
  std::string slug;
};
/// The pages that no other page links to.
std::vector<PlacedPage> orphans(Connection& connection);

/// A page and what it names as its sources.
struct PageSources {
  std::string path;
  std::string scope;
  std::string slug;
  std::vector<std::string> sources;
  Timestamp updated_at;
};
/// The pages that name any sources.
std::vector<PageSources> sources(Connection& connection);

/// A page and the file that it is, relative to the data directory.
struct PlacedFile {
  std::string path;
  std::string scope;
  std::string slug;
};
/// Of all pages.
std::vector<PlacedFile> places(Connection& connection);

/// How many pages each scope has.
std::map<std::string, std::int64_t> count_by_scope(Connection& connection);

}  // namespace agw::page_store

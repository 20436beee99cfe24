// How the database is kept consistent with page files that any program may write. docs/design/search.md, "Knowledge
// pages".
//
// The invariant: after `catch_up`, the index has the version of every page that was on disk when `catch_up` was called,
// or a newer one. This needs no timer: inotify queues a change before the system call that makes it returns. So reading
// the queue first and the files after it misses no change.
//
//   1. Wait for the running pass, if any. It may have read files before this call, so its result is not sufficient.
//   2. Take the queued changes. If there are none and the last pass was complete, the index is up to date.
//   3. If the changes name files, compare these. Otherwise (the first pass, a new directory, a queue that overflowed,
//      or directories that cannot be watched) walk the tree, watch each directory before it is listed, and compare
//      stamps.
//   4. Remove the pages whose files are gone, then read and write the changed ones. In this order, a page that was
//      moved keeps its slug.
//
// Each write is small, because other writes wait for it: about 1 MiB of pages, where a link counts as 40 bytes.
// `compared_` is false until a pass has completed, so an incomplete pass is followed by a full one. A kill leaves
// complete pages in the index, and the next process begins with a full pass.

#include "features/knowledge/page_index.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/async/assert.hpp"
#include "features/knowledge/page.hpp"
#include "features/knowledge/page_store.hpp"

namespace agw {

namespace {

/// Pages read in one batch.
constexpr std::size_t pages_per_batch = 100;
/// The size of one write, which takes about 100 ms. A link costs as much as `bytes_per_link` bytes.
constexpr std::size_t bytes_at_once = std::size_t{1024} * 1024;
constexpr std::size_t bytes_per_link = 40;
constexpr std::size_t pages_removed_at_once = 20;
/// From this many changed pages on, the segments of the full-text index are merged afterwards.
constexpr std::size_t min_changes_to_merge = 500;

struct Walked {
  std::vector<FoundKnowledgeFile> files;
  std::vector<FileWatch::Registration> watched;
};

PageDifferences compare(const std::vector<FoundKnowledgeFile>& files, std::map<std::string, FileStamp> known) {
  PageDifferences differences;
  for (const auto& file : files) {
    const auto before = known.find(file.path);
    if (before == known.end() || before->second != file.stamp) differences.changed.push_back(file.path);
    if (before != known.end()) known.erase(before);
  }
  for (const auto& [path, stamp] : known) differences.gone.push_back(path);
  return differences;
}

/// The differences among the files that were reported as changed.
PageDifferences differences_of(const KnowledgeTree& tree, const std::set<std::string>& files) {
  PageDifferences differences;
  for (const auto& path : files) {
    if (is_page_path(path)) (tree.directory().stamp(path) ? differences.changed : differences.gone).push_back(path);
  }
  return differences;
}

/// The number of pages from `first` on to write in one transaction.
std::size_t count_at_once(const std::vector<std::optional<IndexedPage>>& pages, std::size_t first) {
  AGW_ASSERT(first < pages.size());
  std::size_t bytes = 0;
  std::size_t end = first;
  do {
    if (pages[end]) bytes += pages[end]->body.size() + bytes_per_link * pages[end]->links.size();
    ++end;
  } while (end < pages.size() && bytes < bytes_at_once);
  return end - first;
}

/// Pages that are read while their caller does something else; no value for a missing file.
struct Batch {
  std::vector<std::string> paths;
  StartedWork<std::vector<std::optional<IndexedPage>>> pages;
};

/// Starts to read the pages from `begin` on; returns no value if there are none.
std::optional<Batch> start_reading(BlockingPool& blocking, const std::shared_ptr<const KnowledgeTree>& tree,
                                   const std::vector<std::string>& paths, std::size_t begin) {
  if (begin >= paths.size()) return std::nullopt;
  const auto first = paths.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto count = std::min(pages_per_batch, paths.size() - begin);
  std::vector<std::string> batch(first, first + static_cast<std::ptrdiff_t>(count));
  auto pages = blocking.start([tree, batch] {
    std::vector<std::optional<IndexedPage>> read;
    read.reserve(batch.size());
    for (const auto& path : batch) read.push_back(read_page(*tree, path));
    return read;
  });
  return Batch{std::move(batch), std::move(pages)};
}

}  // namespace

PageIndex::PageIndex(BlockingPool& blocking, Database& database, std::filesystem::path data_directory,
                     bool others_write)
    : blocking_(blocking),
      database_(database),
      data_directory_(std::move(data_directory)),
      tree_(std::make_shared<KnowledgeTree>(data_directory_)),
      watch_(std::make_shared<FileWatch>()),
      others_write_(others_write) {}

Task<> PageIndex::catch_up() {
  co_await mutex_.wait();
  const auto changes = watch_->take();
  if (compared_ && !changes.any()) co_return;
  const auto pass = mutex_.enter();
  const bool everything = !compared_ || changes.everything;
  compared_ = false;
  PageDifferences differences;
  if (everything)
    differences = co_await compare_all();
  else
    differences =
        co_await blocking_.run([tree = tree_, files = changes.files] { return differences_of(*tree, files); });
  // Deletions first, so that a moved page keeps its slug.
  co_await remove(std::move(differences.gone));
  co_await take(std::move(differences.changed));
  compared_ = !stopping_ && all_watched_ && !others_write_;
}

Task<PageDifferences> PageIndex::compare_all() {
  const auto walked = co_await blocking_.run([tree = tree_, watch = watch_, directory = data_directory_] {
    Walked made;
    made.files = tree->walk(KnowledgeFiles::pages, [&](const std::string& path) {
      made.watched.push_back(watch->add(directory / path, path));
    });
    return made;
  });
  for (const auto& added : walked.watched) watch_->remember(added);
  // The creation of a missing directory would not be noticed, because it cannot be watched.
  all_watched_ = std::ranges::all_of(walked.watched, [](const auto& added) { return added.number >= 0; });
  co_return co_await database_.read(
      [files = walked.files](Connection& connection) { return compare(files, page_store::stamps(connection)); });
}

Task<> PageIndex::take(std::vector<std::string> paths) {
  std::size_t begin = 0;
  auto batch = start_reading(blocking_, tree_, paths, begin);
  while (batch && !stopping_) {
    auto pages = co_await batch->pages.result();
    begin += pages_per_batch;
    // The next batch is read while the database stores this one.
    auto next = start_reading(blocking_, tree_, paths, begin);
    co_await write(std::move(batch->paths), std::move(pages));
    batch = std::move(next);
  }
  if (paths.size() >= min_changes_to_merge) co_await merge();
}

/// Stores `pages`, read from `paths`; no value for a missing file.
Task<> PageIndex::write(std::vector<std::string> paths, std::vector<std::optional<IndexedPage>> pages) {
  AGW_ASSERT(paths.size() == pages.size());
  const auto shared = std::make_shared<const std::vector<std::optional<IndexedPage>>>(std::move(pages));
  for (std::size_t begin = 0; begin < paths.size() && !stopping_;) {
    const auto end = begin + count_at_once(*shared, begin);
    AGW_ASSERT(begin < end);
    AGW_ASSERT(end <= paths.size());
    co_await database_.write([paths, shared, begin, end](Connection& connection) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto& page = (*shared)[i];
        AGW_ASSERT(!page || page->path == paths[i]);
        page ? page_store::put(connection, *page) : page_store::remove(connection, paths[i]);
      }
    });
    begin = end;
  }
}

/// Speeds up searches, which read every segment of the index for each word.
Task<> PageIndex::merge() {
  auto step = page_store::Merge::begin;
  while (!stopping_ &&
         co_await database_.write([step](Connection& connection) { return page_store::merge_some(connection, step); },
                                  Database::Lane::background)) {
    step = page_store::Merge::resume;
  }
}

Task<> PageIndex::remove(std::vector<std::string> paths) {
  for (std::size_t begin = 0; begin < paths.size() && !stopping_; begin += pages_removed_at_once) {
    const auto first = paths.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count = std::min(pages_removed_at_once, paths.size() - begin);
    co_await database_.write(
        [piece = std::vector<std::string>(first, first + static_cast<std::ptrdiff_t>(count))](Connection& connection) {
          for (const auto& path : piece) page_store::remove(connection, path);
        });
  }
}

}  // namespace agw

#include "features/knowledge/page_index.hpp"

#include <map>
#include <set>

#include "features/knowledge/page.hpp"
#include "features/knowledge/page_store.hpp"

namespace agw {

namespace {

/// Pages that are written at once.
constexpr std::size_t pages_a_piece = 100;
/// From so many changed pages on, the index is made one part again.
constexpr std::size_t many = 500;

struct Walked {
  std::vector<FoundKnowledgeFile> files;
  std::vector<FileWatch::Added> watched;
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

/// Of the files that were named as changed.
PageDifferences look_at(const KnowledgeTree& tree, const std::set<std::string>& files) {
  PageDifferences differences;
  for (const auto& path : files) {
    if (is_page_path(path)) (tree.directory().stamp(path) ? differences.changed : differences.gone).push_back(path);
  }
  return differences;
}

}  // namespace

PageIndex::PageIndex(BlockingPool& blocking, Database& database, std::filesystem::path data_directory)
    : blocking_(blocking),
      database_(database),
      data_directory_(std::move(data_directory)),
      tree_(std::make_shared<KnowledgeTree>(data_directory_)),
      watch_(std::make_shared<FileWatch>()) {}

Task<> PageIndex::catch_up() {
  co_await turnstile_.wait();
  const auto changes = watch_->take();
  if (compared_ && !changes.any()) co_return;
  const auto pass = turnstile_.enter();
  const bool everything = !compared_ || changes.everything;
  compared_ = false;
  PageDifferences differences;
  if (everything)
    differences = co_await compare_all();
  else
    differences = co_await blocking_.run([tree = tree_, files = changes.files] { return look_at(*tree, files); });
  // First what is gone: a page that was moved keeps its slug.
  co_await remove(std::move(differences.gone));
  co_await take(std::move(differences.changed));
  compared_ = !stopping_;
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
  co_return co_await database_.read(
      [files = walked.files](Connection& connection) { return compare(files, page_store::stamps(connection)); });
}

Task<> PageIndex::take(std::vector<std::string> paths) {
  for (std::size_t begin = 0; begin < paths.size() && !stopping_; begin += pages_a_piece) {
    const auto first = paths.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count = std::min(pages_a_piece, paths.size() - begin);
    std::vector<std::string> piece(first, first + static_cast<std::ptrdiff_t>(count));
    auto pages = co_await blocking_.run([tree = tree_, piece] {
      std::vector<std::optional<IndexedPage>> read;
      read.reserve(piece.size());
      for (const auto& path : piece) read.push_back(read_page(*tree, path));
      return read;
    });
    co_await database_.write([piece, pages = std::move(pages)](Connection& connection) {
      for (std::size_t i = 0; i < piece.size(); ++i) {
        pages[i] ? page_store::put(connection, *pages[i]) : page_store::remove(connection, piece[i]);
      }
    });
  }
  if (paths.size() >= many) co_await merge();
}

/// A search asks each part of the index for each of its words.
Task<> PageIndex::merge() {
  auto step = page_store::Merge::begin;
  while (!stopping_ &&
         co_await database_.write([step](Connection& connection) { return page_store::merge_some(connection, step); },
                                  Database::Lane::background)) {
    step = page_store::Merge::go_on;
  }
}

Task<> PageIndex::remove(std::vector<std::string> paths) {
  for (std::size_t begin = 0; begin < paths.size() && !stopping_; begin += pages_a_piece) {
    const auto first = paths.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count = std::min(pages_a_piece, paths.size() - begin);
    co_await database_.write(
        [piece = std::vector<std::string>(first, first + static_cast<std::ptrdiff_t>(count))](Connection& connection) {
          for (const auto& path : piece) page_store::remove(connection, path);
        });
  }
}

}  // namespace agw

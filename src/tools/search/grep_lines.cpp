#include <sys/stat.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "io/sandbox/masked_paths.hpp"
#include "tools/charset.hpp"
#include "tools/search/grep.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_line_length = 500;

/// Prints selected lines of a text and their context.
class ExcerptWriter {
public:
  ExcerptWriter(std::string path, const std::vector<std::int64_t>& lines, std::int64_t context)
      : path_(std::move(path)), matches_(lines), context_(context) {}

  std::string of(std::string_view text) {
    std::int64_t number = 1;
    for (std::size_t at = 0; at < text.size(); ++number) {
      while (next_ < matches_.size() && matches_[next_] + context_ < number) ++next_;
      if (next_ == matches_.size()) break;
      const auto end = std::min(text.find('\n', at), text.size());
      if (matches_[next_] - context_ <= number) show(number, text.substr(at, end - at));
      at = end + 1;
    }
    return std::move(out_);
  }

private:
  void show(std::int64_t number, std::string_view line) {
    if (context_ > 0 && last_ != 0 && number > last_ + 1) out_ += "--\n";
    last_ = number;
    const char mark = std::ranges::binary_search(matches_, number) ? ':' : '-';
    if (line.ends_with('\r')) line.remove_suffix(1);
    out_ += fmt::format("{}{}{}{}{}{}\n", path_, mark, number, mark, to_utf8(line.substr(0, max_line_length)),
                        line.size() > max_line_length ? " […]" : "");
  }

  std::string path_;
  const std::vector<std::int64_t>& matches_;
  std::int64_t context_;
  std::size_t next_ = 0;   ///< the next selected line
  std::int64_t last_ = 0;  ///< the last line printed
  std::string out_;
};

/// A private file cannot have another name unless it has several hard links.
bool is_private(const Descriptor& file, const fs::path& path, const FileRoots& roots) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || !is_readable(place_of(path, roots))) return true;
  return status.st_nlink > 1 &&
         hard_linked_private_files(roots.home, roots.data_directory).contains({status.st_dev, status.st_ino});
}

}  // namespace

std::vector<GrepExcerpt> read_matches(const OpenedPath& start, const std::vector<GrepHits>& hits, std::int64_t context,
                                      const FileRoots& roots) {
  AGW_DEBUG_ASSERT(may_block());

  std::vector<GrepExcerpt> shown;
  std::optional<Directory> top;
  if (start.type == FileType::directory) top = open_directory(start);
  for (const auto& hit : hits) {
    auto file = top ? top->file(hit.path) : FileResult<Descriptor>(open_file(start));
    const auto path = top ? start.path / hit.path : start.path;
    if (!file || is_private(*file, path, roots)) continue;
    const auto text = read_opened(*file, max_grep_file_size);
    if (!text) continue;
    // Ripgrep found these lines in the converted text.
    auto lines = ExcerptWriter(to_utf8(shown_path(path, roots)), hit.lines, context)
                     .of(is_marked_utf16(*text) ? text_to_utf8(*text, "") : *text);
    const GrepExcerpt one{.target = {.place = place_of(path, roots), .path = path.string()}, .text = std::move(lines)};
    if (!one.text.empty()) shown.push_back(one);
  }
  return shown;
}

}  // namespace agw

#include <sys/stat.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/json.hpp"
#include "io/covered_places.hpp"
#include "tools/charset.hpp"
#include "tools/grep.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_file = std::size_t{50} * 1024 * 1024;
constexpr std::size_t longest_line = 500;

/// Prints wanted lines of a text and those around them.
class ShownLines {
public:
  ShownLines(std::string path, const std::vector<std::int64_t>& lines, std::int64_t context)
      : path_(std::move(path)), wanted_(lines), context_(context) {}

  std::string of(std::string_view text) {
    std::int64_t number = 1;
    for (std::size_t at = 0; at < text.size(); ++number) {
      while (next_ < wanted_.size() && wanted_[next_] + context_ < number) ++next_;
      if (next_ == wanted_.size()) break;
      const auto end = std::min(text.find('\n', at), text.size());
      if (wanted_[next_] - context_ <= number) show(number, text.substr(at, end - at));
      at = end + 1;
    }
    return std::move(out_);
  }

private:
  void show(std::int64_t number, std::string_view line) {
    if (context_ > 0 && last_ != 0 && number > last_ + 1) out_ += "--\n";
    last_ = number;
    const char mark = std::ranges::binary_search(wanted_, number) ? ':' : '-';
    if (line.ends_with('\r')) line.remove_suffix(1);
    out_ += fmt::format("{}{}{}{}{}{}\n", path_, mark, number, mark, to_utf8(line.substr(0, longest_line)),
                        line.size() > longest_line ? " […]" : "");
  }

  std::string path_;
  const std::vector<std::int64_t>& wanted_;
  std::int64_t context_;
  std::size_t next_ = 0;   ///< the first wanted one that is not out of reach yet
  std::int64_t last_ = 0;  ///< the last one shown
  std::string out_;
};

/// Files that have one name only cannot be others under another name.
bool is_private(const Descriptor& file, const fs::path& path, const FileRoots& roots) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || !is_readable(place_of(path, roots))) return true;
  return status.st_nlink > 1 &&
         linked_private_files(roots.home, roots.data_directory).contains({status.st_dev, status.st_ino});
}

}  // namespace

std::vector<GrepShown> show_lines(const Located& start, const std::vector<GrepHits>& hits, std::int64_t context,
                                  const FileRoots& roots) {
  std::vector<GrepShown> shown;
  std::optional<Directory> top;
  if (start.type == FileType::directory) top = open_directory(start);
  for (const auto& hit : hits) {
    auto file = top ? top->file(hit.path) : FileResult<Descriptor>(open_file(start));
    const auto path = top ? start.path / hit.path : start.path;
    if (!file || is_private(*file, path, roots)) continue;
    const auto text = read_opened(*file, largest_file);
    if (!text) continue;
    // Ripgrep has found its lines in what it means.
    auto lines = ShownLines(to_utf8(shown_path(path, roots)), hit.lines, context)
                     .of(is_marked_utf16(*text) ? text_to_utf8(*text, "") : *text);
    const GrepShown one{.target = {.place = place_of(path, roots), .path = path.string()}, .text = std::move(lines)};
    if (!one.text.empty()) shown.push_back(one);
  }
  return shown;
}

}  // namespace agw

#include <re2/re2.h>

#include <algorithm>

#include <boost/algorithm/string/replace.hpp>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "tools/charset.hpp"
#include "tools/search/glob_pattern.hpp"
#include "tools/search/grep.hpp"
#include "tools/search/walk.hpp"

namespace agw {

namespace {

class Expression {
public:
  explicit Expression(const GrepQuery& query) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_never_nl(true);
    options.set_case_sensitive(!query.ignore_case);
    options.set_max_mem(std::int64_t{32} * 1024 * 1024);
    compiled_ = std::make_unique<re2::RE2>("(?m:" + query.pattern + ")", options);
    if (!compiled_->ok()) throw BadRequest("pattern: " + compiled_->error());
  }

  /// The numbers of matching lines, up to `max_lines`.
  std::vector<std::int64_t> lines(std::string_view text, std::size_t max_lines) const {
    std::vector<std::int64_t> found;
    std::int64_t number = 1;
    std::size_t counted = 0;
    for (std::size_t at = 0; at < text.size() && found.size() < max_lines;) {
      re2::StringPiece match;
      const re2::StringPiece all(text.data(), text.size());
      if (!compiled_->Match(all, at, text.size(), re2::RE2::UNANCHORED, &match, 1)) break;
      const auto begin = static_cast<std::size_t>(match.data() - text.data());
      if (begin == text.size() && text.ends_with('\n')) break;
      number += std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                           text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
      counted = begin;
      found.push_back(number);
      const auto end = text.find('\n', begin);
      if (end == text.npos) break;
      at = end + 1;
    }
    return found;
  }

private:
  std::unique_ptr<re2::RE2> compiled_;
};

/// Follows ripgrep's `--glob`: a pattern without a slash applies to the name, else to the path; `!` excludes.
class FileFilter {
public:
  explicit FileFilter(std::string_view glob)
      : leaves_out_(glob.starts_with('!')), pattern_(make_pattern(glob)), whole_path_(glob.find('/') != glob.npos) {}

  bool takes(std::string_view path) const {
    if (!pattern_) return true;
    const auto name = path.substr(path.rfind('/') + 1);
    return pattern_->matches(whole_path_ ? path : name) != leaves_out_;
  }

private:
  static std::optional<GlobPattern> make_pattern(std::string_view glob) {
    if (glob.starts_with('!')) glob.remove_prefix(1);
    if (glob.starts_with("./")) glob.remove_prefix(1);
    if (glob.starts_with('/')) glob.remove_prefix(1);
    return glob.empty() ? std::nullopt : std::optional(GlobPattern(glob));
  }

  bool leaves_out_;
  std::optional<GlobPattern> pattern_;
  bool whole_path_;
};

class WalkingSearch {
public:
  explicit WalkingSearch(const GrepQuery& query)
      : expression_(query), filter_(query.glob), left_(query.max_lines + 1) {}

  bool includes(const std::string& path) const { return filter_.takes(path); }

  /// Returns false once there are enough matches.
  bool add(const std::string& path, FileResult<std::string> text) {
    AGW_ASSERT(left_ > 0);
    if (!text) return true;
    if (is_marked_utf16(*text)) *text = text_to_utf8(*text, "");
    if (text->find('\0') != text->npos) return true;
    boost::replace_all(*text, "\r\n", "\n");
    auto lines = expression_.lines(*text, left_);
    if (lines.empty()) return true;
    AGW_ASSERT(lines.size() <= left_);
    AGW_DEBUG_ASSERT(std::ranges::is_sorted(lines));
    left_ -= lines.size();
    if (left_ == 0) {
      found_.more = true;
      lines.pop_back();
    }
    if (!lines.empty()) found_.files.push_back({path, std::move(lines)});
    return left_ > 0;
  }

  GrepFound take_found() {
    std::ranges::sort(found_.files, {}, &GrepHits::path);
    return std::move(found_);
  }

private:
  Expression expression_;
  FileFilter filter_;
  std::size_t left_;  ///< one more than the result, which shows whether there are more
  GrepFound found_;
};

}  // namespace

GrepFound search_by_walking(const OpenedPath& start, const GrepQuery& query, const FileRoots& roots,
                            const StopFlag& stopped) {
  AGW_DEBUG_ASSERT(may_block());

  WalkingSearch search(query);
  if (start.type != FileType::directory) {
    search.add("", read_opened(open_file(start), max_grep_file_size));
    return search.take_found();
  }
  const auto top = open_directory(start);
  walk(start, roots, {.hidden = false, .gitignored = false}, stopped, [&](const std::string& path, bool is_directory) {
    if (is_directory || !search.includes(path)) return true;
    return search.add(path, top.read(path, max_grep_file_size));
  });
  return search.take_found();
}

}  // namespace agw

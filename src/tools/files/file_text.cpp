#include "tools/files/file_text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "base/text/utf8.hpp"
#include "io/files/descriptor.hpp"

namespace agw {

namespace {

constexpr std::size_t max_line_length = 2000;
constexpr std::size_t max_shown_text = 200'000;
constexpr std::size_t max_entries = 2000;
constexpr std::size_t max_edited_size = std::size_t{10} * 1024 * 1024;

[[noreturn]] void refuse_binary(const OpenedPath& file) {
  throw BadRequest(
      fmt::format("{}: a binary file of {} bytes, which cannot be shown as text", file.path.string(), file.size));
}

/// Collects a range of lines from a text that arrives in pieces.
class NumberedLines {
public:
  explicit NumberedLines(LineRange range) : range_(range) {
    AGW_ASSERT(range_.first >= 1);
    AGW_ASSERT(range_.count >= 1);
  }

  /// Returns false once no more is needed. Text after the range shows that there is more.
  bool add(std::string_view piece) {
    if (is_full()) {
      has_more_ = true;
      return false;
    }
    while (!piece.empty()) {
      const auto end = piece.find('\n');
      take(piece.substr(0, end));
      if (end == piece.npos) return true;
      end_line();
      piece.remove_prefix(end + 1);
      if (is_full()) {
        has_more_ = !piece.empty();
        return !has_more_;
      }
    }
    return true;
  }

  std::string text() {
    if (in_line_) end_line();
    if (has_more_) {
      text_ += fmt::format("[there is more: continue with offset {}]\n", number_);
    } else if (text_.empty()) {
      text_ = number_ == 1 ? "[the file is empty]\n" : fmt::format("[the file has {} lines]\n", number_ - 1);
    }
    return std::move(text_);
  }

  bool is_full() const { return number_ >= range_.first + range_.count || text_.size() >= max_shown_text; }

private:
  void take(std::string_view part) {
    in_line_ = true;
    length_ += part.size();
    if (number_ < range_.first || line_.size() > max_line_length) return;
    line_ += part.substr(0, max_line_length + 1);
  }

  void end_line() {
    if (number_ >= range_.first) {
      text_ += fmt::format("{:6}\t{}", number_, to_utf8(utf8_prefix(line_, max_line_length)));
      if (length_ > max_line_length) text_ += fmt::format(" [… {} bytes in this line]", length_);
      text_ += '\n';
    }
    line_.clear();
    length_ = 0;
    in_line_ = false;
    ++number_;
  }

  LineRange range_;
  bool has_more_ = false;
  std::int64_t number_ = 1;
  std::string line_;
  std::size_t length_ = 0;
  bool in_line_ = false;
  std::string text_;
};

}  // namespace

std::string numbered_lines(const OpenedPath& file, LineRange range, const StopFlag& stopped) {
  AGW_DEBUG_ASSERT(may_block());

  const auto opened = open_file(file);
  NumberedLines lines(range);
  std::string piece(std::size_t{64} * 1024, '\0');
  for (bool more = true; more && !stopped->load();) {
    const auto size = ::read(opened.get(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw_errno("cannot read " + file.path.string());
    if (size == 0) break;
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(size));
    if (bytes.find('\0') != bytes.npos) refuse_binary(file);
    more = lines.add(bytes);
  }
  return lines.text();
}

std::string numbered_lines(std::string_view text, LineRange range) {
  NumberedLines lines(range);
  lines.add(text);
  return lines.text();
}

std::string listed_directory(const OpenedPath& directory, const FileRoots& roots) {
  AGW_DEBUG_ASSERT(may_block());

  std::vector<std::string> names;
  bool more = false;
  const auto visited = open_directory(directory).visit(".", [&](const DirectoryEntry& entry) {
    if (!is_readable(place_of(directory.path / entry.name, roots))) return true;
    more = names.size() == max_entries;
    if (!more) names.push_back(entry.name + (entry.type == FileType::directory ? "/" : ""));
    return !more;
  });
  if (!visited) throw BadRequest(fmt::format("{}: {}", directory.path.string(), to_string(visited.error())));
  std::ranges::sort(names);
  std::string text;
  for (const auto& name : names) text += to_utf8(name) + "\n";
  if (more) text += fmt::format("[there are more than {} entries: use Glob]\n", max_entries);
  return text.empty() ? "[the directory is empty]\n" : text;
}

std::string whole_text(const OpenedPath& file) {
  AGW_DEBUG_ASSERT(may_block());

  const auto opened = open_file(file);
  if (file.size > max_edited_size) throw BadRequest(fmt::format("{}: too large to edit", file.path.string()));
  std::string text(max_edited_size + 1, '\0');
  std::size_t used = 0;
  for (;;) {
    const auto size = ::read(opened.get(), text.data() + used, text.size() - used);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw_errno("cannot read " + file.path.string());
    if (size == 0) break;
    used += static_cast<std::size_t>(size);
    if (used > max_edited_size) throw BadRequest(fmt::format("{}: too large to edit", file.path.string()));
  }
  text.resize(used);
  if (text.find('\0') != text.npos) refuse_binary(file);
  return text;
}

}  // namespace agw

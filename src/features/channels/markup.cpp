#include "features/channels/markup.hpp"

#include <algorithm>
#include <utility>

#include "base/text/markdown_tree.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

constexpr std::size_t max_fence = 16;

std::size_t units_of(char first_byte) {
  if (continues_character(first_byte)) return 0;
  return (static_cast<unsigned char>(first_byte) & 0xf8) == 0xf0 ? 2 : 1;
}

/// The fence in a line that opens or closes a code block (```` ``` ````, `~~~`); empty if the line has none.
std::string_view fence_of(std::string_view line) {
  constexpr std::size_t max_indentation = 3;
  line = line.substr(0, max_indentation + max_fence + 1);
  const auto begin = line.find_first_not_of(' ');
  if (begin == line.npos || begin > max_indentation || (line[begin] != '`' && line[begin] != '~')) return {};
  const auto end = std::min(line.find_first_not_of(line[begin], begin), line.size());
  return end - begin >= 3 && end - begin <= max_fence ? line.substr(begin, end - begin) : std::string_view();
}

/// Collects lines into pieces.
class Splitter {
public:
  explicit Splitter(std::size_t max_units) : max_units_(max_units) {}

  std::vector<std::string> split(std::string_view text) {
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
      add_line(text.substr(0, end));
      text.remove_prefix(end);
    }
    end_piece(piece_.size());
    return std::move(pieces_);
  }

private:
  void add_line(std::string_view line) {
    auto units = utf16_length(line);
    while (units_ + units + reserve(line) > max_units_) {
      // Split after the last paragraph only if that fills half of the piece.
      if (paragraph_ > piece_.size() / 2) {
        end_piece(paragraph_);
      } else if (piece_.size() > opened_.size()) {
        end_piece(piece_.size());
      } else {
        const auto part = add_part(line);
        units -= utf16_length(part);
        line.remove_prefix(part.size());
      }
    }
    if (line == "\n" && piece_.empty()) return;
    piece_ += line;
    units_ += units;
    const auto fence = fence_of(line);
    if (fence_.empty()) {
      if (!fence.empty())
        open(fence, line);
      else if (line == "\n")
        paragraph_ = piece_.size();
    } else if (fence.starts_with(fence_)) {
      fence_.clear();
      opened_.clear();
    }
  }

  void open(std::string_view fence, std::string_view line) {
    fence_ = fence;
    const auto info = line.size() <= 80 ? line : fence;
    opened_ = std::string(info.substr(0, info.find('\n'))) + '\n';
  }

  /// Adds the part of a long line that fits into the piece, up to a blank if possible. Returns it.
  std::string_view add_part(std::string_view line) {
    auto part = utf16_prefix(line, max_units_ - std::min(max_units_ - 2, units_ + reserve(line)));
    const auto blank = part.rfind(' ');
    if (blank != part.npos && blank > part.size() / 2) part = part.substr(0, blank + 1);
    piece_ += part;
    end_piece(piece_.size());
    return part;
  }

  /// The room needed to close a code block that is open, or that the line opens.
  std::size_t reserve(std::string_view line) const {
    const auto size = fence_.empty() ? fence_of(line).size() : fence_.size();
    return size == 0 ? 0 : size + 1;
  }

  void end_piece(std::size_t size) {
    auto rest = piece_.substr(size);
    piece_.resize(size);
    // The rest after the last paragraph has no open code block: paragraphs do not end inside one.
    const bool is_open = !fence_.empty() && rest.empty();
    if (is_open) piece_ += (piece_.ends_with('\n') ? "" : "\n") + fence_;
    const auto last = piece_.find_last_not_of(" \n");
    if (!is_invisible(piece_) && piece_ != opened_) pieces_.push_back(piece_.substr(0, last + 1));
    piece_ = is_open ? opened_ : std::move(rest);
    units_ = utf16_length(piece_);
    paragraph_ = 0;
  }

  std::size_t max_units_;
  std::vector<std::string> pieces_;
  std::string piece_;
  std::size_t units_ = 0;      ///< the length of the piece in UTF-16
  std::size_t paragraph_ = 0;  ///< the end of the last paragraph of the piece
  std::string fence_;          ///< of the open code block
  std::string opened_;         ///< the first line of the open code block
};

}  // namespace

std::size_t utf16_length(std::string_view text) {
  std::size_t units = 0;
  for (const char byte : text) units += units_of(byte);
  return units;
}

std::string_view utf16_prefix(std::string_view text, std::size_t units) {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto more = units_of(text[i]);
    if (taken + more > units) return text.substr(0, i);
    taken += more;
  }
  return text;
}

std::vector<std::string> split_markdown(std::string_view text, std::size_t max_units) {
  return Splitter(max_units).split(text);
}

std::string answer_html(std::string_view markdown) {
  MarkdownTree tree(markdown);
  tree.show_raw_html();
  tree.link_images();
  return tree.html();
}

}  // namespace agw

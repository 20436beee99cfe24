#include "models/think_tags.hpp"

#include <algorithm>
#include <utility>

#include "base/text/ascii.hpp"

namespace agw {

namespace {

constexpr std::string_view opening_tag = "<think>";
constexpr std::string_view closing_tag = "</think>";

/// The size of the end of `text` that may be the beginning of a closing tag.
std::size_t begun_tag(std::string_view text) {
  auto size = std::min(text.size(), closing_tag.size() - 1);
  while (!closing_tag.starts_with(text.substr(text.size() - size))) --size;
  return size;
}

}  // namespace

bool ThinkTags::skip_blanks() {
  waiting_.erase(0, std::min(waiting_.find_first_not_of(white_space), waiting_.size()));
  return !waiting_.empty();
}

ThinkTags::Pieces ThinkTags::add(std::string_view delta) {
  Pieces pieces;
  waiting_ += delta;
  if (place_ == Place::beginning) {
    const auto blanks = std::min(waiting_.find_first_not_of(white_space), waiting_.size());
    const auto begun = std::string_view(waiting_).substr(blanks);
    if (begun.size() < opening_tag.size() && opening_tag.starts_with(begun)) return pieces;
    place_ = begun.starts_with(opening_tag) ? Place::thoughts : Place::text;
    if (place_ == Place::thoughts) waiting_.erase(0, blanks + opening_tag.size());
  }
  if (place_ == Place::thoughts) {
    if (!has_thoughts_ && !skip_blanks()) return pieces;
    const auto end = waiting_.find(closing_tag);
    const auto size = end == waiting_.npos ? waiting_.size() - begun_tag(waiting_) : end;
    pieces.thoughts = waiting_.substr(0, size);
    has_thoughts_ = has_thoughts_ || size > 0;
    waiting_.erase(0, end == waiting_.npos ? size : end + closing_tag.size());
    if (end == waiting_.npos) return pieces;
    place_ = Place::between;
  }
  if (place_ == Place::between && !skip_blanks()) return pieces;
  place_ = Place::text;
  pieces.text = std::exchange(waiting_, {});
  return pieces;
}

ThinkTags::Pieces ThinkTags::finish() {
  auto rest = std::exchange(waiting_, {});
  if (place_ == Place::thoughts) return {std::move(rest), {}};
  return {{}, std::move(rest)};
}

}  // namespace agw

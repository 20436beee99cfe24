#include "models/think_tags.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/ascii.hpp"

namespace agw {

namespace {

struct ThoughtTag {
  std::string_view text;
  std::string_view closing;  ///< the tag that ends the thoughts
};
/// Those of Mistral are the brackets. A closing tag comes first if the service has removed the rest.
constexpr std::array<ThoughtTag, 4> tags = {
    {{"<think>", "</think>"}, {"</think>", "</think>"}, {"[THINK]", "[/THINK]"}, {"[/THINK]", "[/THINK]"}}};

/// The size of the end of `text` that may be the beginning of `tag`.
std::size_t begun_tag(std::string_view text, std::string_view tag) {
  auto size = std::min(text.size(), tag.size() - 1);
  while (!tag.starts_with(text.substr(text.size() - size))) --size;
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
    const auto may_follow = [&](const ThoughtTag& tag) {
      return begun.size() < tag.text.size() && tag.text.starts_with(begun);
    };
    if (std::ranges::any_of(tags, may_follow)) return pieces;
    const auto* tag = std::ranges::find_if(tags, [&](const ThoughtTag& each) { return begun.starts_with(each.text); });
    place_ = are_open_ ? Place::thoughts : Place::untagged;
    closing_tag_ = tags[0].closing;
    if (tag != tags.end()) {
      are_open_ = are_open_ && tag->text == tag->closing;
      place_ = tag->text == tag->closing ? Place::between : Place::thoughts;
      closing_tag_ = tag->closing;
      waiting_.erase(0, blanks + tag->text.size());
    }
  }
  if (place_ == Place::thoughts) {
    if (!has_thoughts_ && !skip_blanks()) return pieces;
    const auto end = waiting_.find(closing_tag_);
    const auto size = end == waiting_.npos ? waiting_.size() - begun_tag(waiting_, closing_tag_) : end;
    pieces.thoughts = waiting_.substr(0, size);
    has_thoughts_ = has_thoughts_ || size > 0;
    if (are_open_) said_ += pieces.thoughts;
    waiting_.erase(0, end == waiting_.npos ? size : end + closing_tag_.size());
    if (end == waiting_.npos) return pieces;
    place_ = Place::between;
  }
  if (place_ == Place::between && !skip_blanks()) return pieces;
  pieces.text = std::exchange(waiting_, {});
  if (place_ == Place::untagged) {
    look_for_end(pieces.text);
  } else {
    place_ = Place::text;
  }
  return pieces;
}

void ThinkTags::look_for_end(std::string_view text) {
  said_ += text;
  const auto end = said_.find(closing_tag_);
  const auto begin = said_.find(tags[0].text);
  are_open_ = end < begin;
  if (end != begin) place_ = Place::text;
  said_.erase(0, said_.size() - std::min(said_.size(), closing_tag_.size() - 1));
}

ThinkTags::Pieces ThinkTags::finish(bool has_text) {
  auto rest = std::exchange(waiting_, {});
  if (place_ != Place::thoughts) return {{}, std::move(rest)};
  if (!are_open_ || !has_text) return {std::move(rest), {}};
  are_open_ = false;
  return {rest, said_ + rest};
}

}  // namespace agw

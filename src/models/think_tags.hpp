#pragma once

#include <string>
#include <string_view>

namespace agw {

/// Separates the thoughts that an answer's text begins with, in `<think>` tags or Mistral's `[THINK]`, as servers of
/// open models leave them there. However the text is split.
/// Example: src/models/think_tags_test.cpp: ThinkTags.SeparateThoughtsFromTheAnswer
class ThinkTags {
public:
  struct Pieces {
    std::string thoughts;
    std::string text;
  };

  /// `are_open`: the model begins to think without a tag, because its template ends the prompt with one.
  explicit ThinkTags(bool are_open = false) : are_open_(are_open) {}

  /// What `delta` completes: the beginning of a tag waits for its rest, and white space for what follows it.
  Pieces add(std::string_view delta);
  /// The rest, at the end of the answer. What was taken for thoughts that never ended is the text too, if it
  /// `has_text`.
  Pieces finish(bool has_text = true);
  /// After the end: whether the model's next answer begins with thoughts, as far as this one shows.
  bool are_open() const { return are_open_; }

private:
  enum class Place { beginning, thoughts, between, untagged, text };

  /// Removes white space from the beginning of what waits. Returns whether anything is left.
  bool skip_blanks();
  /// Looks for a closing tag that was never opened in the text of an answer without tags before it.
  void look_for_end(std::string_view text);

  bool are_open_;
  Place place_ = Place::beginning;
  bool has_thoughts_ = false;
  std::string_view closing_tag_;
  std::string waiting_;
  std::string said_;  ///< thoughts without a tag before them, or the end of the text
};

}  // namespace agw

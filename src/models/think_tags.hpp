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

  /// What `delta` completes: the beginning of a tag waits for its rest, and white space for what follows it.
  Pieces add(std::string_view delta);
  /// The rest, at the end of the answer.
  Pieces finish();

private:
  enum class Place { beginning, thoughts, between, text };

  /// Removes white space from the beginning of what waits. Returns whether anything is left.
  bool skip_blanks();

  Place place_ = Place::beginning;
  bool has_thoughts_ = false;
  std::string_view closing_tag_;
  std::string waiting_;
};

}  // namespace agw

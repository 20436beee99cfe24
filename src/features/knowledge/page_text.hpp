#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/time.hpp"

namespace agw {

/// An entity named in the head of a page.
struct NamedEntity {
  std::string name;
  std::optional<std::string> type;
  bool operator==(const NamedEntity&) const = default;
};

/// The YAML head of a page. Missing members are empty.
struct PageHead {
  std::string title;
  std::string summary;
  std::string category;
  std::string scope;
  std::vector<std::string> tags;
  std::vector<std::string> sources;
  std::vector<NamedEntity> entities;
  std::optional<Timestamp> updated_at;
};

/// A parsed page file. An invalid head becomes part of the text, so that no text is hidden.
struct PageText {
  PageHead head;
  std::string body;     ///< Markdown
  std::string problem;  ///< why the head is invalid; empty if it is valid
};
PageText read_page_text(std::string_view file);

/// The text of a page's file.
std::string write_page_text(const PageText& page);

inline constexpr std::size_t max_title_length = 200;  ///< bytes
/// The default category of a page.
inline constexpr std::string_view default_category = "general";

/// A title derived from the name of a file: `setup-guide` becomes `Setup guide`.
std::string title_of_name(std::string_view stem);

/// The first sentence or two of a text, on one line, at most about 200 bytes.
std::string summary_of(std::string_view text);

/// The text on one line, with whitespace and control characters as single spaces, truncated to `bytes` with `…`.
std::string single_line(std::string_view text, std::size_t bytes);

}  // namespace agw

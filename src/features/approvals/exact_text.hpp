#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// Text that a person is about to approve: all of it, with what a reader would miss written out. Control, bidirectional
/// and invisible characters become `⟨U+202E⟩`; long white space becomes its length, `⟨10000 spaces⟩`; letters of other
/// alphabets in Latin words, and imitations of ASCII, are followed by their code point.
/// Example: src/features/approvals/exact_text_test.cpp: ExactText.WritesOutControlBidirectionalAndInvisibleCharacters
std::string exact_text(std::string_view text);

/// A host as a text shows it, and what it is.
struct DisguisedHost {
  std::string shown;
  std::string real;
};

/// The hosts in `text` that are not what they look like: other alphabets (with their punycode), a name before `@`, a
/// number as an address. In order, each once.
std::vector<DisguisedHost> disguised_hosts(std::string_view text);

}  // namespace agw

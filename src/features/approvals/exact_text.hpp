#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// Returns a text for a person's approval: complete, and with everything visible that a reader would miss. Control,
/// bidirectional and invisible characters become `⟨U+202E⟩`. Long white space becomes its length, `⟨10000 spaces⟩`.
/// Letters of other alphabets in Latin words, and imitations of ASCII, are followed by their code point.
/// Example: src/features/approvals/exact_text_test.cpp: ExactText.WritesOutControlBidirectionalAndInvisibleCharacters
std::string exact_text(std::string_view text);

/// A host as it appears in a text, and the real one.
struct DisguisedHost {
  std::string shown;
  std::string real;
};

/// Returns the misleading hosts in `text`: other alphabets (with their punycode), a name before `@`, a number as an
/// address. In order, without duplicates.
std::vector<DisguisedHost> disguised_hosts(std::string_view text);

}  // namespace agw

#pragma once

#include <string>
#include <string_view>

namespace agw {

/// What a person wrote in a mail: without the signature, and without the mail that it answers, if that stands below.
/// Answers between quoted lines stay with them. All of it if nothing else is left.
/// Example: src/features/channels/email/mail_text_test.cpp: OwnText.LeavesOutWhatIsQuotedBelow
std::string own_text(std::string_view text);

/// A subject without `Re:`, `AW:`, `Fwd:` and their kin in front.
std::string_view bare_subject(std::string_view subject);

}  // namespace agw

#pragma once

#include <string>
#include <string_view>

namespace agw {

/// The text that a person wrote in a mail, without the signature and the quoted mail below. Quoted lines between
/// answers are kept. Returns the whole text if nothing else remains. Example:
/// src/features/channels/email/mail_text_test.cpp: OwnText.LeavesOutWhatIsQuotedBelow
std::string own_text(std::string_view text);

/// The text of a forwarded mail: what the person wrote above it, then that mail as a quotation. Example:
/// src/features/channels/email/mail_text_test.cpp: ForwardedMail.IsAQuotationBelowThePersonsOwnWords
std::string text_with_forwarded(std::string_view text);

/// Whether the subject is that of a forwarded mail: `Fwd: …`, `WG: …` and similar.
bool is_forward(std::string_view subject);

/// A subject without `Re:`, `AW:`, `Fwd:` and similar prefixes.
std::string_view bare_subject(std::string_view subject);

}  // namespace agw

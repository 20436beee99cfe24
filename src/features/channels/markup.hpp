#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// The length of a text as messengers count it: in UTF-16 code units.
std::size_t utf16_length(std::string_view text);

/// The longest prefix of at most that many UTF-16 code units.
std::string_view utf16_prefix(std::string_view text, std::size_t units);

/// Splits Markdown into pieces of at most `max_units` UTF-16 code units: between paragraphs if possible, else at line
/// ends, blanks, characters. A code block that is split is closed and opened again.
/// Example: src/features/channels/markup_test.cpp: SplitMarkdown.KeepsParagraphsWhole
std::vector<std::string> split_markdown(std::string_view text, std::size_t max_units);

/// Markdown in the HTML that Telegram knows (https://core.telegram.org/bots/api#html-style). Lists become lines with
/// bullets, headings bold, tables rows of a code block.
std::string telegram_html(std::string_view markdown);

/// Markdown in HTML for Matrix (Client-Server API, section "m.room.message msgtypes") and mails. Raw HTML is shown as
/// it was written.
std::string answer_html(std::string_view markdown);

/// Markdown as XMPP clients style it (XEP-0393): `*bold*`, `_italic_`, `~struck~`, code and quotes as they are. Lists
/// become lines with bullets, tables rows of a code block; addresses of links follow their texts.
std::string styled_text(std::string_view markdown);

}  // namespace agw

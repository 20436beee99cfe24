#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// The length of a text in UTF-16 code units, in which messengers count.
std::size_t utf16_length(std::string_view text);

/// The longest prefix of at most that many UTF-16 code units.
std::string_view utf16_prefix(std::string_view text, std::size_t units);

/// Splits Markdown into pieces of at most `max_units` UTF-16 code units: between paragraphs if possible, else at line
/// ends, blanks, characters. A code block that is split is closed and opened again.
/// Example: src/features/channels/markup_test.cpp: SplitMarkdown.KeepsParagraphsWhole
std::vector<std::string> split_markdown(std::string_view text, std::size_t max_units);

/// Converts Markdown to Telegram's HTML subset (https://core.telegram.org/bots/api#html-style). Lists become lines with
/// bullets, headings become bold, tables become rows of a code block.
std::string telegram_html(std::string_view markdown);

/// Converts Markdown to HTML for Matrix (Client-Server API, section "m.room.message msgtypes") and mails. Raw HTML
/// appears as text.
std::string answer_html(std::string_view markdown);

/// Converts Markdown to Message Styling (XEP-0393): `*bold*`, `_italic_`, `~struck~`, code and quotes unchanged. Lists
/// become lines with bullets, tables become rows of a code block; addresses of links follow their texts.
std::string styled_text(std::string_view markdown);

}  // namespace agw

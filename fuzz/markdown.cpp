// Markdown of models, agents and pages: as safe HTML, as an outline, and in the formats of messengers.

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "features/channels/markup.hpp"
#include "features/knowledge/markdown.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  agw::outline_of(text);
  const auto html = agw::safe_html(text, [](std::string_view) { return std::nullopt; });
  for (const auto* forbidden : {"<script", "<img", "<iframe", "href=\"javascript:", "href=\"data:"}) {
    if (html.find(forbidden) != html.npos) std::abort();
  }
  agw::telegram_html(text);
  agw::answer_html(text);
  for (const auto& piece : agw::split_markdown(text, 256)) {
    if (piece.empty() || agw::utf16_length(piece) > 256) std::abort();
  }
  return 0;
}

#include "features/runs/active_text.hpp"

#include <algorithm>
#include <utility>

#include "base/async/assert.hpp"

namespace agw {

namespace {

constexpr std::size_t longest_character = 4;
// Otherwise a piece could consist of a part of one character.
static_assert(long_text_piece > longest_character);

/// The beginning of the text, which ends at the boundary of a UTF-8 character.
std::string_view beginning_of(std::string_view text) {
  auto size = std::min(text.size(), long_text_piece);
  for (std::size_t back = 0; back < longest_character && size < text.size() && size > 1; ++back) {
    if ((static_cast<unsigned char>(text[size]) & 0xc0U) != 0x80U) break;
    --size;
  }
  AGW_ASSERT(size <= long_text_piece);
  // Without progress, the text would never end.
  AGW_ASSERT(size > 0 || text.empty());
  return text.substr(0, size);
}

}  // namespace

void ActiveText::add(ActiveRunPointer run, const json::object& members) {
  AGW_ASSERT(run);
  AGW_ASSERT(!members.empty());
  AGW_ASSERT(!opened_);
  auto head = to_json(members);
  head.back() = ',';
  head += R"("text":")";
  auto tail = R"(","tools":)" + to_json(json::value(run->tools)) + "}";
  const auto text = run->log.content().size();
  const auto reasoning = run->log.reasoning_content().size();
  left_.push_back({std::move(run), std::move(head), std::move(tail), text, reasoning});
}

/// The next piece of `whole`, escaped. After the last piece, moves on to `next`.
std::string ActiveText::piece_of(std::string_view whole, Place next) {
  AGW_ASSERT(written_ <= whole.size());
  const auto piece = beginning_of(whole.substr(written_));
  written_ += piece.size();
  if (written_ == whole.size()) {
    place_ = next;
    written_ = 0;
  }
  std::string quoted;
  write_json(quoted, piece);
  AGW_ASSERT(quoted.size() >= 2);
  return quoted.substr(1, quoted.size() - 2);
}

std::string ActiveText::next() {
  if (closed_) return {};
  std::string out;
  if (!std::exchange(opened_, true)) out = "[";
  while (!left_.empty() && out.size() < long_text_piece) {
    auto& part = left_.front();
    // Logs only grow.
    AGW_ASSERT(part.text <= part.run->log.content().size());
    AGW_ASSERT(part.reasoning <= part.run->log.reasoning_content().size());
    switch (place_) {
      case Place::head:
        out += part.head;
        place_ = Place::text;
        break;
      case Place::text:
        out += piece_of(std::string_view(part.run->log.content()).substr(0, part.text), Place::between);
        break;
      case Place::between:
        out += R"(","reasoning":")";
        place_ = Place::reasoning;
        break;
      case Place::reasoning:
        out += piece_of(std::string_view(part.run->log.reasoning_content()).substr(0, part.reasoning), Place::tail);
        break;
      case Place::tail:
        out += part.tail;
        left_.pop_front();
        if (!left_.empty()) out += ",";
        place_ = Place::head;
        break;
    }
  }
  if (left_.empty()) {
    out += "]";
    closed_ = true;
  }
  AGW_ASSERT(!out.empty());
  return out;
}

}  // namespace agw

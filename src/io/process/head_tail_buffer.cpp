#include "io/process/head_tail_buffer.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

constexpr std::size_t max_character_length = 4;

/// The start of the last `count` characters of `text`.
std::size_t last_characters(std::string_view text, std::size_t count) {
  auto at = text.size();
  while (at > 0 && count > 0) {
    --at;
    if (!continues_character(text[at])) --count;
  }
  return at;
}

}  // namespace

HeadTailBuffer::HeadTailBuffer(std::size_t limit) : half_(std::max<std::size_t>(limit / 2, 1)) {
  AGW_ASSERT(half_ <= std::numeric_limits<std::size_t>::max() / (2 * max_character_length));
}

/// The bounds of the memory, whatever arrives.
void HeadTailBuffer::assert_invariants() const {
  AGW_ASSERT(beginning_characters_ <= half_);
  AGW_ASSERT(beginning_characters_ <= beginning_.size());
  AGW_ASSERT(beginning_.size() <= (max_character_length + 1) * half_);
  AGW_ASSERT(end_.size() <= 2 * max_character_length * half_);
  AGW_ASSERT(dropped_bytes_ == 0 || !end_.empty());
}

void HeadTailBuffer::add(std::string_view bytes) {
  assert_invariants();
  std::size_t taken = 0;
  while (end_.empty() && taken < bytes.size()) {
    const bool begins = !continues_character(bytes[taken]);
    const bool is_full = begins ? beginning_characters_ == half_ : beginning_.size() >= max_character_length * half_;
    if (is_full) break;
    beginning_characters_ += begins ? 1 : 0;
    beginning_.push_back(bytes[taken++]);
  }
  end_.append(bytes.substr(taken));
  // Allows twice the needed size, so that few additions move data.
  const auto room = max_character_length * half_;
  if (end_.size() > 2 * room) {
    dropped_bytes_ += end_.size() - room;
    end_.erase(0, end_.size() - room);
  }
  assert_invariants();
}

std::string HeadTailBuffer::text() const {
  const std::string_view end = end_;
  const auto kept = last_characters(end, half_);
  AGW_ASSERT(kept <= end.size());
  if (dropped_bytes_ == 0 && kept == 0) return beginning_ + end_;
  if (dropped_bytes_ == 0) {
    return fmt::format("{}\n[… {} characters cut …]\n{}", beginning_, count_characters(end.substr(0, kept)),
                       end.substr(kept));
  }
  return fmt::format("{}\n[… {} bytes cut …]\n{}", beginning_, dropped_bytes_ + kept, end.substr(kept));
}

}  // namespace agw

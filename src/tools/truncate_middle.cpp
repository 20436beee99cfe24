#include "io/process/head_tail_buffer.hpp"
#include "tools/tool.hpp"

namespace agw {

std::string truncate_middle(std::string_view text, std::size_t max_characters) {
  HeadTailBuffer excerpt(max_characters);
  excerpt.add(text);
  return excerpt.text();
}

}  // namespace agw

#include "io/process/head_tail_buffer.hpp"
#include "tools/tool.hpp"

namespace agw {

std::string truncate_middle(std::string_view text, std::size_t most) {
  HeadTailBuffer excerpt(most);
  excerpt.add(text);
  return excerpt.text();
}

}  // namespace agw

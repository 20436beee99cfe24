#include "tools/text_limit.hpp"

#include "io/excerpt.hpp"

namespace agw {

std::string limited(std::string_view text, std::size_t most) {
  Excerpt excerpt(most);
  excerpt.add(text);
  return excerpt.text();
}

}  // namespace agw

#include "models/model.hpp"

namespace agw {

Usage& Usage::operator+=(const Usage& other) {
  input_tokens += other.input_tokens;
  output_tokens += other.output_tokens;
  cache_read_tokens += other.cache_read_tokens;
  cache_write_tokens += other.cache_write_tokens;
  reasoning_tokens += other.reasoning_tokens;
  return *this;
}

}  // namespace agw

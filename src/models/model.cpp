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

Task<std::variant<json::object, ModelFailure>> Provider::embed(json::object /*body*/, StopSource& /*stop*/) {
  ModelFailure failure;
  failure.kind = ModelFailure::Kind::refused;
  failure.status = 400;
  failure.message = "this service makes no embeddings";
  failure.param = "model";
  co_return failure;
}

}  // namespace agw

#include "base/json/shared_json.hpp"

namespace agw {

const json::value& SharedJson::null() {
  static const json::value value;
  return value;
}

std::size_t SharedJson::text_size() const {
  if (!shared_) return to_json(null()).size();
  if (shared_->text_size == 0) shared_->text_size = to_json(shared_->value).size();
  return shared_->text_size;
}

}  // namespace agw

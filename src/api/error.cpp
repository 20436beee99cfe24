#include "api/error.hpp"

namespace agw {

std::string text_with_details(const ApiError& error) {
  auto text = error.error();
  if (const auto* details = error.extra().if_contains("details"); details && details->is_array()) {
    for (const auto& detail : details->get_array()) {
      text += "; " + std::string(detail.at("message").as_string());
    }
  }
  return text;
}

}  // namespace agw

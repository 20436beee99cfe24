// Bodies of `POST /extensions`: they are accepted, or rejected with all their problems.

#include <cstdint>
#include <string_view>

#include "api/error.hpp"
#include "base/json/json.hpp"
#include "features/extensions/validation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto body = agw::parse_json({reinterpret_cast<const char*>(data), size});
  if (!body || !body->is_object()) return 0;
  try {
    agw::read_new_extension(body->as_object());
  } catch (const agw::ApiError&) {
  }
  return 0;
}

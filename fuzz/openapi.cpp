// OpenAPI documents of other services: they result in operations, or in an error.

#include <cstdint>
#include <string_view>

#include "features/integrations/bearer_challenge.hpp"
#include "features/integrations/openapi.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto url = *agw::WebUrl::parse("https://api.example.com/openapi.json");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  agw::read_openapi(text, url);
  agw::bearer_challenge(text);
  return 0;
}

// Search texts of people: every text is a valid query.

#include <cstdint>
#include <string_view>

#include "features/threads/search_query.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const agw::SearchQuery query({reinterpret_cast<const char*>(data), size});
  return 0;
}

// Files of proposals, which people edit: they are rejected with a line number, or parsed and serialised without
// changes.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json/yaml.hpp"
#include "features/proposals/proposal_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  agw::proposal_head_of(text);
  try {
    const auto read = agw::read_proposal_text(text);
    const auto again = agw::read_proposal_text(agw::write_proposal_text(read));
    if (again.content != read.content) std::abort();
  } catch (const agw::YamlError&) {
  }
  return 0;
}

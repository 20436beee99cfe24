#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "features/context/model_request.hpp"

namespace agw {

std::optional<Message> extract_pictures(std::vector<Message>& results, std::size_t limit) {
  Message shown;
  std::vector<std::string> tools;
  for (auto& result : results) {
    for (auto& image : std::exchange(result.images, {})) {
      if (shown.images.size() == limit) continue;
      shown.images.push_back(std::move(image));
      tools.push_back(result.tool_name);
    }
  }
  if (shown.images.empty()) return std::nullopt;
  shown.text = fmt::format("[These pictures came with the results above, from {}. The person did not send them.]",
                           fmt::join(tools, ", "));
  return shown;
}

}  // namespace agw

#include "features/context/model_limits.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace agw {

ModelInfo ModelLimits::of(const ModelChoice& choice) const {
  const auto found = lowered_.find(choice.id());
  return found == lowered_.end() ? models_.info(choice) : found->second;
}

void ModelLimits::lower(const Completion& completion, std::int64_t context_window,
                        std::optional<std::int64_t> max_output_tokens) {
  auto& model =
      lowered_.try_emplace(completion.id(), models_.info(completion.provider, completion.model)).first->second;
  if (context_window < model.context_window) {
    model.context_window = context_window;
    log::warn("{} has a smaller context window than listed: using {} tokens until the gateway ends", completion.id(),
              context_window);
  }
  if (max_output_tokens) model.max_output_tokens = std::min(model.max_output_tokens, *max_output_tokens);
}

}  // namespace agw

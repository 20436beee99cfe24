#include <filesystem>

#include "api/error.hpp"
#include "features/agents/service.hpp"
#include "features/proposals/proposed_extension.hpp"
#include "features/proposals/targets.hpp"

namespace agw {

namespace {

bool is_identity(const TargetPlace& place) {
  const std::filesystem::path path(place.relative);
  const auto depth = std::distance(path.begin(), path.end());
  const bool is_placed = depth == 1 || (depth == 3 && *path.begin() == "agents");
  return place.in_data_directory && is_placed && (path.filename() == "soul.md" || path.filename() == "user-profile.md");
}

}  // namespace

void check_proposed(ProposalType type, const TargetPlace& place, const std::string& content) {
  if (place.names_directory) fail_validation({{"target", std::string(to_string(FileError::is_directory))}});
  if (extension_of_target(place)) {
    check_extension_text(content);
  } else if (type == ProposalType::extension) {
    fail_validation({{"target",
                      "the target of an extension is agents/<name>/agent.yaml, jobs/<name>/job.yaml or "
                      "extensions/<name>.yaml"}});
  }
  if (is_identity(place) && content.size() > identity_limit) {
    throw PayloadTooLarge(identity_too_large);
  }
}

}  // namespace agw

#include "models/fitting_names.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "base/digest.hpp"

namespace agw {

namespace {

constexpr std::size_t max_name_size = 64;
constexpr std::size_t hash_size = 12;

}  // namespace

FittingNames::FittingNames(const ModelRequest& request, ProviderKind kind) : kind_(kind) {
  if (kind != ProviderKind::openai && kind != ProviderKind::gemini) return;
  for (const auto& tool : request.tools) {
    if (fitting(tool.name) != tool.name) changed_.push_back(tool.name);
  }
}

/// The same for the same name, so that what a service has cached stays valid.
std::string FittingNames::fitting(const std::string& name) const {
  const bool begins_wrong = !name.empty() && (name[0] == '-' || (name[0] >= '0' && name[0] <= '9'));
  auto fits = kind_ == ProviderKind::gemini && begins_wrong ? '_' + name : name;
  if (fits.size() <= max_name_size) return fits;
  return fits.substr(0, max_name_size - hash_size - 1) + '_' + to_hex(sha256(name)).substr(0, hash_size);
}

std::string FittingNames::own(const std::string& name) const {
  const auto found = std::ranges::find_if(changed_, [&](const std::string& each) { return fitting(each) == name; });
  return found == changed_.end() ? name : *found;
}

void FittingNames::apply(ModelRequest& request) const {
  for (auto& tool : request.tools) tool.name = fitting(tool.name);
  for (auto& message : request.messages) {
    message.tool_name = fitting(message.tool_name);
    for (auto& use : message.tool_uses) use.name = fitting(use.name);
  }
  if (auto& choice = request.options.tool_choice) choice->name = fitting(choice->name);
}

void FittingNames::restore(ModelOutcome& outcome) const {
  auto* reply = std::get_if<ModelReply>(&outcome);
  if (!reply) return;
  for (auto& use : reply->tool_uses) use.name = own(use.name);
}

Delta FittingNames::restored(Delta delta) const {
  if (delta.kind == Delta::Kind::call) delta.name = own(delta.name);
  return delta;
}

}  // namespace agw

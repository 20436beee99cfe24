#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "features/apps/types.hpp"
#include "features/extensions/types.hpp"

namespace agw {

/// The parts of an app's definition that serving it needs.
struct AppPlan {
  AppType type = AppType::command;
  std::filesystem::path path;  ///< empty if the definition has none
  std::string command;         ///< empty if the definition has none
  std::optional<int> port;     ///< no value if the definition has none, or one that cannot be
  std::string health_path;     ///< empty: the server is healthy once it accepts connections
};

/// Reads the definition. Without a `type`, an app that has a path and no command is static.
AppPlan app_plan(const Extension& extension);

/// The app's environment variables, with `${secret:NAME}` unexpanded. Do not call it on the loop, because there can be
/// hundreds of thousands.
std::map<std::string, std::string> app_environment(const Extension& extension);

/// Throws ApiError 500 `invalid app definition` with `details` if the path is missing or not absolute, or if a
/// development server has no command or an invalid health path.
void require_complete(const AppPlan& plan);

}  // namespace agw

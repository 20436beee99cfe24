#pragma once

#include <optional>
#include <string>

#include "base/json/json.hpp"
#include "cli/transfer/importer.hpp"

namespace agw::cli {

/// A model service in another program.
struct SourceService {
  std::string name;
  std::string api{};                 ///< as in our definitions; empty if the gateway does not support it
  std::string base_url{};            ///< may be empty for the vendors' own services
  std::optional<std::string> key{};  ///< nullopt: needs none; empty: the other program stores it elsewhere
  json::object headers{};            ///< those that contain a key become secrets
  json::array models{};              ///< as in our definitions
  std::string default_model{};
};

/// Creates a disabled integration of the kind `model`. Reports missing properties.
void import_model_service(Importer& importer, SourceService service, const std::string& origin);

/// The key in a member; empty if it names a variable or a place instead.
std::optional<std::string> key_in(const json::object& object, std::string_view name);

/// The model id if `model` is one of `service` (`<service>/<id>`); else empty.
std::string model_of_service(std::string_view model, std::string_view service);

}  // namespace agw::cli

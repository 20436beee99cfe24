#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/async/task.hpp"
#include "config/settings.hpp"
#include "features/configuration/file.hpp"
#include "features/configuration/types.hpp"

namespace agw {

struct Route;
class Approvals;
class BlockingPool;
class Costs;

/// The settings of the gateway: which it runs with, where each comes from, and what a person changes in config.yaml.
/// Only settings that protect nothing can be changed: see Changeable in config/keys.hpp. No tool of agents leads here.
class Configuration {
public:
  /// The rooms in which changes take effect at once.
  struct Rooms {
    BlockingPool& blocking;
    Costs& costs;
    Approvals& approvals;
  };
  /// `settings` is what `load_settings` returned for `sources` at the start.
  Configuration(Rooms rooms, SettingsSources sources, Settings settings);

  Task<ConfigurationReport> report() const;

  /// Changes the values of keys; null removes an entry. Returns the new report. Throws BadRequest with `details` for
  /// unknown keys and invalid values, and Conflict if something cannot be changed here; nothing is changed then.
  Task<ConfigurationReport> change(json::object values);

private:
  void apply(const Edits& edits, const Settings& next);

  Rooms rooms_;
  SettingsSources sources_;
  Settings running_;
  std::shared_ptr<std::mutex> editing_ = std::make_shared<std::mutex>();
};

/// `/configuration`.
std::vector<Route> configuration_routes(Configuration& configuration);

}  // namespace agw

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "features/model_services/types.hpp"
#include "features/secrets/service.hpp"
#include "features/signals/service.hpp"
#include "io/http/http_client.hpp"
#include "io/process/blocking.hpp"
#include "models/catalog.hpp"
#include "models/model_listing.hpp"
#include "storage/database.hpp"

namespace agw {

struct Route;

/// The model services that are extensions (`integration` with `kind: model`). Enabled ones are registered with Models.
/// A change applies to the next call; active calls continue unchanged. Lists of models are requested when they are
/// first needed, and then at most once an hour.
class ModelServices : private Subscriber {
public:
  struct Options {
    std::chrono::milliseconds idle_timeout{120'000};  ///< see ModelSettings
    /// For a service to list its models, because checks must respond within 10 s.
    std::chrono::milliseconds listing_limit{9'500};
    std::chrono::milliseconds detection_limit{2'000};
    std::chrono::milliseconds list_age{std::chrono::hours(1)};  ///< older lists are requested again
    /// The services to look for on this machine.
    std::function<const std::vector<ModelServicePreset>&()> presets = model_service_presets;
  };
  /// The rooms and other objects that it uses; all must outlive it.
  struct Parts {
    Loop& loop;
    Database& database;
    Hub& hub;
    Extensions& extensions;
    HttpClient& http;
    BlockingPool& blocking;
    const Secrets& secrets;
    Signals& signals;
    Models& models;
  };
  ModelServices(Parts parts, Options options);
  ~ModelServices() override;

  /// Call it before the loop runs, after the extensions were loaded.
  void load(Connection& connection);
  /// Reads the default model again, because another node may have chosen another one.
  Task<> refresh();
  Task<> stop();

  /// Requests the lists that are due. Waits for those of services that have none yet, or with `refresh` for all.
  Task<> ask_for_list(bool refresh);
  /// Returns all models as JSON, after `ask_for_list`.
  Task<std::string> list_json(bool refresh);

  /// Requests the list of a service without storing anything. Throws BadRequest `validation failed` for a definition
  /// that could not be stored either, and for a key that cannot be sent.
  Task<CheckedService> check(ServiceCheck wanted);
  /// Returns the services that respond on their default ports of this machine.
  Task<std::vector<DetectedService>> detect();

  GatewaySettings settings() const;
  /// Changes the settings. Throws Conflict `set in config.yaml`, BadRequest `model not found: <id>`.
  Task<GatewaySettings> change(SettingsChange wanted);

private:
  struct Service;
  struct ListRequest;

  void deliver(const DomainEvent& event) override;
  void follow(const Extension& extension, bool is_deleted);
  void connect(const Extension& extension);
  void disconnect(const Extension& extension, bool is_deleted);
  void leave(const std::string& name);
  Task<> record_deleted(std::string name, std::vector<std::string> users);
  Task<> forget_deleted(std::string name);
  void restore_lists(Connection& connection);
  Task<> store_list(std::string name, std::string place, std::shared_ptr<const ModelList> models);
  /// Returns the settings of any service; null if there is none with that name.
  std::shared_ptr<const ProviderSettings> settings_of(const std::string& name) const;
  bool is_due(const std::string& name, std::chrono::milliseconds after) const;
  /// Requests the list in the background. The event is set at the end.
  std::shared_ptr<AsyncEvent> request_list(const std::string& name);
  Task<> run_request(std::string name, std::shared_ptr<const ProviderSettings> settings,
                     std::shared_ptr<ListRequest> request);
  Task<Listing> list(ProviderSettings settings, std::chrono::milliseconds limit);
  struct Detection;
  Task<> detect_one(std::shared_ptr<Detection> detection, std::size_t place);
  Task<bool> has_model(std::string id);

  Parts parts_;
  Options options_;
  StopSource stopping_;
  bool is_from_another_node_ = false;  ///< whether the event being delivered is from another node
  TaskGroup group_;
  std::map<std::string, Service, std::less<>> services_;  ///< the enabled ones, by the extension's id
  std::map<std::string, std::shared_ptr<ListRequest>, std::less<>> list_requests_;  ///< by the service's name
  std::map<std::string, bool, std::less<>> deleted_;                                ///< names of deleted services
  Hub::Listening listening_;
};

/// `/models`, `/model-services` and `/settings`.
std::vector<Route> model_service_routes(ModelServices& services);

}  // namespace agw

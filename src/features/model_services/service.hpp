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

/// The model services that are extensions (`integration` with `kind: model`): while one is enabled, Models has it. A
/// change counts from the next call on; calls under way end on what they began with. Services are asked for their
/// models when these are first needed, and then at most once an hour.
class ModelServices : private Subscriber {
public:
  struct Options {
    std::chrono::milliseconds idle_timeout{120'000};  ///< see ModelSettings
    std::chrono::milliseconds listing_limit{9'500};   ///< for a service to list its models: checks answer within 10 s
    std::chrono::milliseconds detection_limit{2'000};
    std::chrono::milliseconds list_age{std::chrono::hours(1)};  ///< then a service is asked for its models again
    /// The services to look for on this machine.
    std::function<const std::vector<ModelServicePreset>&()> presets = model_service_presets;
  };
  /// The rooms and parts that it uses; all outlive it.
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

  /// Before the loop runs, after the extensions.
  void load(Connection& connection);
  /// Another node may have chosen the default model.
  Task<> refresh();
  Task<> stop();

  /// All models as JSON. Waits for services that have never been asked, or with `refresh` for all.
  Task<std::string> list_json(bool refresh);

  /// Asks a service for its models; nothing is stored. Throws BadRequest `validation failed` for a definition that
  /// could not be stored either, and for a key that cannot be sent.
  Task<CheckedService> check(ServiceCheck wanted);
  /// The services that answer at the usual ports of this machine.
  Task<std::vector<DetectedService>> detect();

  GatewaySettings settings() const;
  /// Throws Conflict `set in config.yaml`, BadRequest `model not found: <id>`.
  Task<GatewaySettings> change(SettingsChange wanted);

private:
  struct Service;
  struct Asked;

  void deliver(const DomainEvent& event) override;
  void follow(const Extension& extension, bool is_deleted);
  void connect(const Extension& extension);
  void disconnect(const Extension& extension, bool is_deleted);
  void leave(const std::string& name);
  Task<> record_deleted(std::string name, std::vector<std::string> users);
  Task<> forget_deleted(std::string name);
  void restore_lists(Connection& connection);
  Task<> store_list(std::string name, std::string place, std::shared_ptr<const ModelList> models);
  /// The settings of a service of any origin; null if there is none.
  std::shared_ptr<const ProviderSettings> settings_of(const std::string& name) const;
  bool is_due(const std::string& name, std::chrono::milliseconds after) const;
  /// Asks in the background. The event comes when it is over.
  std::shared_ptr<AsyncEvent> ask(const std::string& name);
  Task<> asking(std::string name, std::shared_ptr<const ProviderSettings> settings, std::shared_ptr<Asked> asked);
  Task<> ask_for_list(bool refresh);
  Task<Listing> list(ProviderSettings settings, std::chrono::milliseconds limit);
  struct Detection;
  Task<> detect_one(std::shared_ptr<Detection> detection, std::size_t place);
  Task<bool> has_model(std::string id);

  Parts parts_;
  Options options_;
  StopSource stopping_;
  bool is_told_by_another_node_ = false;  ///< of the event that is being delivered
  TaskGroup group_;
  std::map<std::string, Service, std::less<>> services_;              ///< those that are enabled, by the extension's id
  std::map<std::string, std::shared_ptr<Asked>, std::less<>> asked_;  ///< by the service's name
  std::map<std::string, bool, std::less<>> deleted_;                  ///< names of deleted services
  Hub::Listening listening_;
};

/// `/models`, `/model-services` and `/settings`.
std::vector<Route> model_service_routes(ModelServices& services);

}  // namespace agw

// Model services that are added and removed at run time. The file has five parts, in this order: following the
// extensions that define services; lists of models, requested when they are needed and old; checks of a service before
// it is added; detection of services on this machine; the default model.

#include "features/model_services/service.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "features/model_services/live_provider.hpp"
#include "features/model_services/store.hpp"
#include "models/service_definition.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::string_view default_setting = "default_model";
constexpr auto retry_age = 1min;
/// Longer lists are serialised off the loop.
constexpr std::size_t rows_on_loop = 1'000;

bool is_live(const Extension& extension) {
  return extension.type == ExtensionType::integration && is_model_service(extension.definition.members());
}

ProviderSettings settings_of_extension(const Extension& extension) {
  auto settings = model_service_settings(extension.name, extension.definition.members());
  settings.public_only = extension.source != Source::user;
  return settings;
}

SettingSource source_of(DefaultModel::Source source) {
  switch (source) {
    case DefaultModel::Source::config:
      return SettingSource::config;
    case DefaultModel::Source::settings:
      return SettingSource::settings;
    case DefaultModel::Source::automatic:
      break;
  }
  return SettingSource::automatic;
}

/// The address for which a list of models is valid.
std::string place_of(const ProviderSettings& settings) {
  return fmt::format("{} {}", to_string(settings.kind), settings.base_url);
}

/// Uses the key for every secret in the definition. If there is none, the key becomes the service's.
void use_key(ProviderSettings& settings, const std::string& key) {
  bool used = !settings.api_key.empty();
  if (used) settings.api_key = key;
  for (auto& header : settings.headers) {
    const auto begin = header.value.find("${secret:");
    const auto end = begin == std::string::npos ? begin : header.value.find('}', begin);
    if (end == std::string::npos) continue;
    header.value.replace(begin, end - begin + 1, key);
    used = true;
  }
  if (!used) settings.api_key = key;
}

/// Calls `end` at the end of a request whose end others wait for, also if the request throws.
template <class End>
class EndOfRequest {
public:
  explicit EndOfRequest(End end) : end_(std::move(end)) {}
  ~EndOfRequest() { end_(); }
  EndOfRequest(const EndOfRequest&) = delete;
  EndOfRequest& operator=(const EndOfRequest&) = delete;

private:
  const End end_;
};

}  // namespace

struct ModelServices::Service {
  std::string name;
  Definition definition;
  std::shared_ptr<const ProviderSettings> settings;
  std::shared_ptr<LiveProvider> provider;
};

/// The latest request for a service's list of models.
struct ModelServices::ListRequest {
  explicit ListRequest(Loop& loop) : done(std::make_shared<AsyncEvent>(loop)) {}

  std::shared_ptr<AsyncEvent> done;  ///< set when the request has ended
  SteadyClock::time_point at = SteadyClock::now();
  bool has_answered = false;
  bool has_list = false;  ///< an earlier request succeeded, possibly before the last restart
};

/// One search for services on this machine.
struct ModelServices::Detection {
  explicit Detection(Loop& loop) : done(loop) {}

  std::vector<DetectedService> found{};  ///< in the order of the presets; without a name if a service does not respond
  std::size_t left = 0;                  ///< the number of services that have not responded yet
  AsyncEvent done;
};

ModelServices::ModelServices(Parts parts, Options options)
    : parts_(parts), options_(std::move(options)), group_(parts.loop), listening_(parts.hub, *this) {
  group_.on_failure([](const std::exception_ptr& failure) { log::error("model services: {}", message_of(failure)); });
}

ModelServices::~ModelServices() = default;

void ModelServices::load(Connection& connection) {
  AGW_ASSERT(services_.empty());
  AGW_ASSERT(deleted_.empty());
  parts_.models.choose_default(model_service_store::chosen(connection, default_setting).value_or(""));
  for (const auto& name : model_service_store::deleted(connection)) {
    deleted_[name] = true;
    parts_.models.remove(name, fmt::format("the model service {} was deleted", name));
  }
  auto extensions = parts_.extensions.list({.type = ExtensionType::integration});
  std::ranges::reverse(extensions);  // The oldest first, because it becomes the default.
  for (const auto& extension : extensions) follow(*extension, false);
  restore_lists(connection);
}

Task<> ModelServices::refresh() {
  const auto chosen = co_await parts_.database.write(
      [](Connection& connection) { return model_service_store::chosen(connection, default_setting); });
  parts_.models.choose_default(chosen.value_or(""));
}

Task<> ModelServices::stop() {
  stopping_.request();
  co_await group_.join();
}

void ModelServices::deliver(const DomainEvent& event) {
  const auto* extension = event.record.as<Extension>();
  if (!extension || stopping_.requested()) return;
  is_from_another_node_ = event.is_from_another_node;
  follow(*extension, event.name == "extension.deleted");
  is_from_another_node_ = false;
}

void ModelServices::follow(const Extension& extension, bool is_deleted) {
  const auto known = services_.find(extension.id);
  const bool is_enabled = is_live(extension) && extension.enabled && !is_deleted;
  if (known != services_.end()) {
    const bool is_renamed = known->second.name != extension.name;
    if (is_renamed) {
      const auto before = known->second.name;
      leave(before);
      parts_.models.remove(before, fmt::format("the model service {} is called {} now", before, extension.name));
    }
    const bool is_same = known->second.definition.members() == extension.definition.members();
    if (is_enabled && !is_renamed && is_same) return;
  }
  if (is_enabled) return connect(extension);
  if (known != services_.end() || is_live(extension)) disconnect(extension, is_deleted);
}

void ModelServices::connect(const Extension& extension) {
  const auto settings = std::make_shared<const ProviderSettings>(settings_of_extension(extension));
  const auto& name = settings->name;
  if (parts_.models.is_reserved(name)) {
    log::warn("the model service {} is not used: the environment or config.yaml sets up one of that name", name);
  }
  const auto before = settings_of(name);
  const bool is_same_place = before && before->base_url == settings->base_url && before->kind == settings->kind;
  if (!is_same_place) leave(name);
  auto provider = std::make_shared<LiveProvider>(parts_.http, parts_.blocking, parts_.secrets, *settings,
                                                 options_.idle_timeout, [this, name] {
                                                   if (is_due(name, options_.list_age)) request_list(name);
                                                 });
  auto& service = services_[extension.id];
  if (service.provider) service.provider->retire(provider);
  service = {name, extension.definition, settings, provider};
  AGW_ASSERT(service.name == extension.name);
  parts_.models.put(*settings, std::move(provider), is_same_place);
  if (deleted_.erase(name) > 0 && !is_from_another_node_)
    group_.spawn(parts_.hub.pending_effects().of(forget_deleted(name)));
}

void ModelServices::disconnect(const Extension& extension, bool is_deleted) {
  if (const auto known = services_.extract(extension.id)) known.mapped().provider->retire(nullptr);
  const auto& name = extension.name;
  leave(name);
  if (parts_.models.is_reserved(name)) return;
  parts_.models.remove(name, is_deleted ? fmt::format("the model service {} was deleted", name)
                                        : fmt::format("the model service {} is disabled: enable it", name));
  if (!is_deleted) return;
  deleted_[name] = true;
  if (is_from_another_node_) return;
  auto users = parts_.extensions.users_of_model_service(name);
  group_.spawn(parts_.hub.pending_effects().of(record_deleted(name, std::move(users))));
}

/// The response to an active request must not be stored for the next service with this name.
void ModelServices::leave(const std::string& name) { list_requests_.erase(name); }

Task<> ModelServices::record_deleted(std::string name, std::vector<std::string> users) {
  co_await parts_.database.write([name](Connection& connection) {
    model_service_store::add_deleted(connection, name);
    model_service_store::forget_list(connection, name);
  });
  if (users.empty()) co_return;
  co_await parts_.signals.raise(
      {.kind = "model-service-deleted",
       .message =
           fmt::format("The model service {} was deleted. {} name{} its models, and use their fallback models or "
                       "the default model instead.",
                       name, fmt::join(users, ", "), users.size() == 1 ? "s" : ""),
       .severity = Severity::warning});
}

Task<> ModelServices::forget_deleted(std::string name) {
  co_await parts_.database.write(
      [name](Connection& connection) { model_service_store::forget_deleted(connection, name); });
}

std::shared_ptr<const ProviderSettings> ModelServices::settings_of(const std::string& name) const {
  for (const auto& configured : parts_.models.configured()) {
    if (configured.name == name) {
      return configured.problem.empty() ? std::make_shared<const ProviderSettings>(configured) : nullptr;
    }
  }
  for (const auto& [id, service] : services_) {
    if (service.name == name) return service.settings;
  }
  return nullptr;
}

// Lists of models.

/// Whether the latest request is older than `after`. A failed request is repeated sooner.
bool ModelServices::is_due(const std::string& name, std::chrono::milliseconds after) const {
  const auto request = list_requests_.find(name);
  if (request == list_requests_.end()) return true;
  const auto& last = *request->second;
  if (!last.done->happened()) return false;
  const auto age = last.has_answered ? after : std::min<std::chrono::milliseconds>(after, retry_age);
  return SteadyClock::now() - last.at >= age;
}

std::shared_ptr<AsyncEvent> ModelServices::request_list(const std::string& name) {
  auto& request = list_requests_[name];
  if (request && !request->done->happened()) return request->done;
  auto settings = settings_of(name);
  const auto before = request;
  request = std::make_shared<ListRequest>(parts_.loop);
  if (before) {
    request->has_answered = before->has_answered;
    request->has_list = before->has_list;
  }
  if (!settings || stopping_.requested()) {
    request->done->notify();
  } else {
    group_.spawn(run_request(name, std::move(settings), request));
  }
  return request->done;
}

Task<> ModelServices::run_request(std::string name, std::shared_ptr<const ProviderSettings> settings,
                                  std::shared_ptr<ListRequest> request) {
  AGW_ASSERT(settings);
  const EndOfRequest end([request] {
    AGW_ASSERT(!request->done->happened());
    request->done->notify();
  });
  request->has_answered = false;
  auto listing = co_await list(*settings, options_.listing_limit);
  request->at = SteadyClock::now();
  request->has_answered = listing.error.empty();
  const auto current = list_requests_.find(name);
  const bool is_current = current != list_requests_.end() && current->second == request;
  if (!listing.error.empty()) {
    log::warn("the models of {} are not known: {}", name, listing.error);
  } else if (is_current) {
    request->has_list = true;
    const auto models = std::make_shared<const ModelList>(std::move(listing.models));
    parts_.models.set_list(name, models);
    group_.spawn(store_list(name, place_of(*settings), models));
  }
}

/// Restores the lists from before the last restart. New ones are requested when they are first needed.
void ModelServices::restore_lists(Connection& connection) {
  for (const auto& list : model_service_store::lists(connection)) {
    const auto settings = settings_of(list.service);
    if (!settings || place_of(*settings) != list.place) continue;
    auto models = parse_json(list.models);
    if (!models) continue;  // Earlier versions also stored prices that are no numbers.
    const json::object definition{{"models", *std::move(models)}};
    parts_.models.set_list(list.service, std::make_shared<const ModelList>(model_entries_in(definition)));
    const auto request = list_requests_[list.service] = std::make_shared<ListRequest>(parts_.loop);
    request->has_answered = request->has_list = true;
    request->at -= options_.list_age;
    request->done->notify();
  }
}

Task<> ModelServices::store_list(std::string name, std::string place, std::shared_ptr<const ModelList> models) {
  co_await parts_.database.write([name, place, models](Connection& connection) {
    std::string text;
    write_json(text, models->entries());
    model_service_store::put_list(connection, {name, place, text});
  });
}

Task<Listing> ModelServices::list(ProviderSettings settings, std::chrono::milliseconds limit) {
  auto filled = co_await parts_.blocking.run([&secrets = parts_.secrets, settings = std::move(settings)] {
    return settings.source == ServiceSource::extension ? fill_in(secrets, settings)
                                                       : FilledService{.settings = settings};
  });
  if (!filled.problem.empty()) co_return Listing{.error = filled.problem};
  co_return co_await list_models(parts_.http, parts_.blocking, std::move(filled.settings), stopping_, limit);
}

Task<> ModelServices::ask_for_list(bool refresh) {
  std::vector<std::shared_ptr<AsyncEvent>> awaited;
  for (const auto& [id, service] : services_) {
    const bool is_first = !list_requests_.contains(service.name);
    if (!refresh && !is_due(service.name, options_.list_age)) {
      const auto request = list_requests_.find(service.name);
      if (request != list_requests_.end() && !request->second->has_list) awaited.push_back(request->second->done);
      continue;
    }
    auto done = request_list(service.name);
    // An old list is used while a new one is requested; without any list, the caller waits.
    if (refresh || is_first) awaited.push_back(std::move(done));
  }
  for (const auto& configured : parts_.models.configured()) {
    if (refresh) {
      awaited.push_back(request_list(configured.name));
    } else if (list_requests_.contains(configured.name) && is_due(configured.name, options_.list_age)) {
      request_list(configured.name);
    }
  }
  for (const auto& done : awaited) co_await done->wait();
}

Task<std::string> ModelServices::list_json(bool refresh) {
  co_await ask_for_list(refresh);
  auto rows = parts_.models.list();
  if (rows.size() <= rows_on_loop) {
    std::string text;
    write_json(text, rows);
    co_return text;
  }
  co_return co_await parts_.blocking.run([rows = std::move(rows)] {
    std::string text;
    write_json(text, rows);
    return text;
  });
}

// Checks.

Task<CheckedService> ModelServices::check(ServiceCheck wanted) {
  auto problems = validate_definition(ExtensionType::integration, wanted.definition);
  if (!is_model_service(wanted.definition)) problems.push_back({"definition.kind", "definition.kind must be model"});
  if (!problems.empty()) fail_validation(problems);
  auto settings = model_service_settings("the service", wanted.definition);
  if (wanted.key) {
    if (const auto problem = key_problem(*wanted.key); !problem.empty()) throw BadRequest("key " + problem);
    use_key(settings, *wanted.key);
  }
  auto listing = co_await list(std::move(settings), options_.listing_limit);
  CheckedService checked{.ok = listing.error.empty(), .models = std::move(listing.models)};
  if (!checked.ok) checked.error = std::move(listing.error);
  co_return checked;
}

Task<std::vector<DetectedService>> ModelServices::detect() {
  const auto& presets = options_.presets();
  const auto detection = std::make_shared<Detection>(parts_.loop);
  detection->found.resize(presets.size());
  for (std::size_t place = 0; place < presets.size(); ++place) {
    if (!presets[place].detect || stopping_.requested()) continue;
    ++detection->left;
    group_.spawn(detect_one(detection, place));
  }
  if (detection->left > 0) co_await detection->done.wait();
  std::erase_if(detection->found, [](const DetectedService& service) { return service.name.empty(); });
  co_return std::move(detection->found);
}

Task<> ModelServices::detect_one(std::shared_ptr<Detection> detection, std::size_t place) {
  const EndOfRequest end([detection] {
    AGW_ASSERT(detection->left > 0);
    if (--detection->left == 0) detection->done.notify();
  });
  const auto& preset = options_.presets()[place];
  auto definition = definition_of(preset);
  auto listing = co_await list(model_service_settings(preset.name, definition), options_.detection_limit);
  // Another service may use the same port.
  const bool is_it = preset.owned_by.empty() || listing.owner == preset.owned_by;
  if (listing.error.empty() && is_it) {
    AGW_ASSERT(place < detection->found.size());
    detection->found[place] = {preset.name, preset.label, std::move(definition), std::move(listing.models)};
  }
}

// Settings.

GatewaySettings ModelServices::settings() const {
  const auto found = parts_.models.find_default();
  return {found.id, source_of(found.source)};
}

Task<bool> ModelServices::has_model(std::string id) {
  const auto slash = id.find('/');
  if (slash == std::string::npos || slash + 1 == id.size()) co_return false;
  const auto service = id.substr(0, slash);
  const auto model = id.substr(slash + 1);
  if (!parts_.models.has(service)) co_return false;
  if (parts_.models.lists(service, model) == true) co_return true;
  // The model may be newer than the list.
  if (is_due(service, retry_age)) co_await request_list(service)->wait();
  co_return parts_.models.lists(service, model).value_or(true);
}

Task<GatewaySettings> ModelServices::change(SettingsChange wanted) {
  if (!wanted.default_model.given) co_return settings();
  if (settings().source == SettingSource::config) throw Conflict("set in config.yaml", {{"setting", default_setting}});
  const auto value = wanted.default_model.value;
  if (value && !co_await has_model(*value)) throw BadRequest("model not found: " + *value);
  co_await parts_.database.write(
      [value](Connection& connection) { model_service_store::choose(connection, default_setting, value); });
  parts_.models.choose_default(value.value_or(""));
  co_return settings();
}

}  // namespace agw

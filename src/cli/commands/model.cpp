// The commands `agw model …`. `add` is the longest: it finds the preset (or uses the service described by the options),
// asks for the key, checks both with the service, and only then stores the key as a secret and the service as an
// extension. The others show lists, choose the default and delete.

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/list.hpp"
#include "cli/output/json_output.hpp"
#include "cli/output/line_input.hpp"
#include "cli/output/table.hpp"
#include "cli/output/terminal.hpp"

namespace agw::cli {

namespace {

struct ModelAddOptions {
  std::optional<std::string> service;
  std::optional<std::string> name;
  std::optional<std::string> api;
  std::optional<std::string> base_url;
  std::optional<std::string> default_model;
  bool unchecked = false;
  ListOptions list;
};

struct ModelOptions {
  std::optional<std::string> name;
  bool refresh = false;
  bool force = false;
  ListOptions list;
};

/// `GROQ_KEY` for `groq`.
std::string secret_of(const std::string& name) {
  std::string secret;
  for (const char c : name) secret += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (!secret.empty() && secret[0] >= '0' && secret[0] <= '9') secret.insert(0, "_");
  return secret + "_KEY";
}

std::optional<json::object> find_preset(const json::array& presets, std::string_view name) {
  for (const auto& preset : presets) {
    if (string_member(preset.as_object(), "name") == name) return preset.as_object();
  }
  return std::nullopt;
}

std::string known_services(const json::array& presets) {
  std::string names;
  for (const auto& preset : presets) {
    if (!names.empty()) names += ", ";
    names += string_or_empty(preset.as_object(), "name");
  }
  return names;
}

std::string ask_for_service(const json::array& presets) {
  if (!terminal_at(STDIN_FILENO).present) {
    throw StartError(ExitStatus::usage, "name a service: " + known_services(presets));
  }
  for (const auto& preset : presets) {
    std::cerr << fmt::format("  {:<22} {}\n", one_line(string_or_empty(preset.as_object(), "name")),
                             one_line(string_or_empty(preset.as_object(), "label")));
  }
  std::cerr << "Service: " << std::flush;
  std::string name;
  std::getline(std::cin, name);
  return name;
}

/// The preset; for an unknown name, one built from the options.
json::object chosen_preset(const json::array& presets, const std::string& service, const ModelAddOptions& options) {
  if (auto preset = find_preset(presets, service)) return *preset;
  if (!options.api || !options.base_url) {
    throw StartError(ExitStatus::usage,
                     fmt::format("{} is not one of {}; for another service give --api and --base-url",
                                 one_line(service), known_services(presets)));
  }
  return {{"name", service}, {"needs_key", true}};
}

json::object definition_to_add(const json::object& preset, const ModelAddOptions& options) {
  json::object definition{{"kind", "model"}};
  for (const auto* member : {"api", "base_url", "default_model"}) {
    const auto value = string_or_empty(preset, member);
    if (!value.empty()) definition[member] = value;
  }
  if (options.api) definition["api"] = *options.api;
  if (options.base_url) definition["base_url"] = *options.base_url;
  if (options.default_model) definition["default_model"] = *options.default_model;
  return definition;
}

void name_secret(json::object& definition, const json::object& preset, const std::string& secret) {
  const auto value = fmt::format("${{secret:{}}}", secret);
  const auto header = string_or_empty(preset, "key_header");
  if (header.empty()) {
    definition["api_key"] = value;
  } else {
    definition["headers"] = json::object{{header, value}};
  }
}

/// Refuses an address with a placeholder such as `<resource>`.
void require_filled_in(const json::object& definition) {
  const auto url = string_or_empty(definition, "base_url");
  if (url.find('<') != url.npos) {
    throw StartError(ExitStatus::usage, fmt::format("fill in the address with --base-url: {}", url));
  }
}

/// Throws the problem with the service; returns its number of models.
Task<std::size_t> require_good(const Client& client, json::object definition, const std::string& key) {
  json::object body{{"definition", std::move(definition)}};
  if (!key.empty()) body["key"] = key;
  const auto checked = co_await client.post("/model-services/check", std::move(body));
  if (!is_true(checked, "ok")) throw std::runtime_error(one_line(string_or_empty(checked, "error")));
  const auto* models = array_member(checked, "models");
  co_return models ? models->size() : 0;
}

/// Asked before the key, which would otherwise be stored in the place of that of the service that has this name.
Task<> require_free_name(const Client& client, const std::string& name) {
  try {
    co_await client.get(path({"extensions", name}));
  } catch (const ResponseError& error) {
    if (error.is_not_found()) co_return;
    throw;
  }
  throw std::runtime_error(fmt::format(
      "there is already an extension {0}: `agw ext edit {0}` changes it, and `agw secret set` the key that it "
      "names; for another name give --name",
      one_line(name)));
}

/// The key is not shown while it is typed.
std::string ask_for_key(const json::object& preset, const std::string& service) {
  const auto page = string_or_empty(preset, "key_url");
  const auto hint = !page.empty()              ? ", from " + one_line(page)
                    : preset.contains("label") ? ""
                                               : ", or Enter if it needs none";
  return read_hidden(fmt::format("Key of {}{} (it is not shown): ", one_line(service), hint));
}

json::object service_record(const std::string& name, const std::string& description, json::object definition) {
  return {{"type", "integration"},
          {"name", name},
          {"description", description},
          {"enabled", true},
          {"definition", std::move(definition)}};
}

Task<int> add_service(const FoundGateway& gateway, const ModelAddOptions& options) {
  const Client client(gateway);
  const auto presets = (co_await client.get("/model-services")).as_array();
  const auto service = options.service ? *options.service : ask_for_service(presets);
  const auto preset = chosen_preset(presets, service, options);
  const auto name = options.name.value_or(service);
  auto definition = definition_to_add(preset, options);
  require_filled_in(definition);
  co_await require_free_name(client, name);
  std::string key;
  if (is_true(preset, "needs_key")) {
    key = ask_for_key(preset, service);
    if (!key.empty()) name_secret(definition, preset, secret_of(name));
  }
  std::size_t models = 0;
  if (!options.unchecked) models = co_await require_good(client, definition, key);
  if (!key.empty()) {
    co_await client.ask("PUT", path({"secrets", secret_of(name)}), to_json(json::object{{"value", key}}));
  }
  const auto record =
      co_await client.post("/extensions", service_record(name, "Models of " + service, std::move(definition)));
  if (options.list.json) {
    print_json(record);
    co_return 0;
  }
  std::cerr << "Connected " << one_line(name);
  if (!options.unchecked) std::cerr << ": it has " << count_text(models, "model", "models");
  std::cerr << ".\n";
  std::string default_model;
  try {
    co_await client.get("/models");  // waits for the list of the new service, which may decide the default
    const auto settings = co_await client.get("/settings");
    default_model = string_or_empty(settings.as_object(), "default_model");
  } catch (const std::runtime_error&) {
    // The service is stored all the same; `agw status` reports what is wrong with the gateway.
  }
  if (!default_model.empty()) std::cerr << "The default model is " << one_line(default_model) << ". ";
  std::cerr << "List the models: agw model list\n";
  co_return 0;
}

/// The definition of the model service of this name. The name may also be that of another extension, which `agw model`
/// must leave alone.
Task<json::object> definition_of(const Client& client, const std::string& name) {
  const auto found = co_await client.get(path({"extensions", name}));
  const auto& record = found.as_object();
  auto definition = object_or_empty(record, "definition");
  if (string_or_empty(record, "type") != "integration" || string_or_empty(definition, "kind") != "model")
    throw std::runtime_error(one_line(name) + " is no model service: `agw ext list --type integration`");
  co_return definition;
}

Task<int> check_named(const FoundGateway& gateway, const std::string& name, bool json) {
  const Client client(gateway);
  const auto checked =
      co_await client.post("/model-services/check", {{"definition", co_await definition_of(client, name)}});
  if (json) print_json(checked);
  if (!is_true(checked, "ok")) {
    if (json) co_return 1;
    throw std::runtime_error(one_line(name) + ": " + one_line(string_or_empty(checked, "error")));
  }
  const auto* models = array_member(checked, "models");
  if (!json) std::cerr << one_line(name) << " answers: " << (models ? models->size() : 0) << " models\n";
  co_return 0;
}

Task<int> show_or_choose(const FoundGateway& gateway, const ModelOptions& options) {
  const Client client(gateway);
  const auto settings = options.name
                            ? json::value(co_await client.patch("/settings", {{"default_model", *options.name}}))
                            : co_await client.get("/settings");
  if (options.list.json) {
    print_json(settings);
  } else {
    std::cout << one_line(string_or_empty(settings.as_object(), "default_model")) << '\n';
  }
  co_return 0;
}

Task<int> remove_service(const FoundGateway& gateway, const std::string& name, bool force) {
  const Client client(gateway);
  co_await definition_of(client, name);
  try {
    co_await client.remove(path({"extensions", name}, {{"force", force ? "true" : "false"}}));
  } catch (const std::runtime_error& error) {
    const std::string_view why = error.what();
    if (why.find("model service is in use") == why.npos) throw;
    throw std::runtime_error(fmt::format("{}: --force deletes it; they then use their fallback models", why));
  }
  std::cerr << one_line(name) << " is deleted. Its key is still stored: agw secret list\n";
  co_return 0;
}

std::string tokens_cell(const json::object& model) {
  const auto* window = model.if_contains("context_window");
  return window && window->is_number() ? fmt::format("{}k", window->to_number<std::int64_t>() / 1000) : "";
}

std::string prices_cell(const json::object& model) {
  const auto* price = object_member(model, "price");
  if (!price) return "unknown";
  return fmt::format("{:g} / {:g}", price->at("input").to_number<double>(), price->at("output").to_number<double>());
}

int list_all(const ModelOptions& options) {
  return print_list(options.list, options.refresh ? "/models?refresh=true" : "/models",
                    {text_column("MODEL", "id"),
                     text_column("FROM", "source"),
                     {"WINDOW", tokens_cell},
                     {"USD PER MILLION", prices_cell}},
                    "models");
}

template <class Do>
Action with_gateway(std::shared_ptr<ModelOptions> options, Do act) {
  return [options, act] {
    Loop loop;
    const auto gateway = find_gateway(options->list.data_dir);
    return run(loop, act(gateway, *options));
  };
}

}  // namespace

Action model_add_command(Arguments& arguments) {
  auto options = std::make_shared<ModelAddOptions>();
  arguments.word("service", options->service,
                 "A service such as anthropic, openai, gemini or ollama (default: choose from a list)");
  arguments.option("--name", options->name,
                   "The name of the connection, which its models begin with (default: the service's name)");
  arguments.option("--api", options->api, {"anthropic", "openai-responses", "openai-chat", "ollama", "gemini"},
                   "The API of a service that the gateway does not list");
  arguments.option("--base-url", options->base_url, "The address of the service");
  arguments.option("--default-model", options->default_model, "The model for requests that name only the service");
  arguments.flag("--no-check", options->unchecked, "Connect the service without asking it for its models");
  declare(arguments, options->list);
  return [options] {
    Loop loop;
    const auto gateway = find_gateway(options->list.data_dir);
    return run(loop, add_service(gateway, *options));
  };
}

Action model_list_command(Arguments& arguments) {
  auto options = std::make_shared<ModelOptions>();
  arguments.flag("--refresh", options->refresh, "Ask all services for their models first");
  declare(arguments, options->list);
  return [options] { return list_all(*options); };
}

Action model_check_command(Arguments& arguments) {
  auto options = std::make_shared<ModelOptions>();
  auto name = std::make_shared<std::string>();
  arguments.word("name", *name, "The service's name");
  declare(arguments, options->list);
  return with_gateway(options, [name](const FoundGateway& gateway, const ModelOptions& given) {
    return check_named(gateway, *name, given.list.json);
  });
}

Action model_default_command(Arguments& arguments) {
  auto options = std::make_shared<ModelOptions>();
  arguments.word("model", options->name, "The model, as `agw model list` prints it (default: show the current one)");
  declare(arguments, options->list);
  return with_gateway(options, show_or_choose);
}

Action model_remove_command(Arguments& arguments) {
  auto options = std::make_shared<ModelOptions>();
  auto name = std::make_shared<std::string>();
  arguments.word("name", *name, "The service's name");
  arguments.flag("--force", options->force, "Delete it even if agents name it; they then use their fallback models");
  declare(arguments, options->list);
  return with_gateway(options, [name](const FoundGateway& gateway, const ModelOptions& given) {
    return remove_service(gateway, *name, given.force);
  });
}

}  // namespace agw::cli

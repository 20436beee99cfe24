// The table of all keys of config.yaml: first the kinds of values that only some keys have, then the table, then the
// keys of one provider. The reader of the file, `/configuration`, the example file and docs/configuration.md are based
// on this table.

#include "config/keys.hpp"

#include <algorithm>

#include <boost/asio/ip/address.hpp>

#include "base/text/ascii.hpp"
#include "config/addresses.hpp"
#include "config/values.hpp"

namespace agw {

namespace {

constexpr auto host_names = "a list of host names without scheme, port or path";

bool is_path(std::string_view text) { return !text.empty() && text.find('\0') == std::string_view::npos; }

/// Addresses that a socket can be bound to without a name server.
bool is_bindable(std::string_view text) {
  boost::system::error_code error;
  boost::asio::ip::make_address(std::string(text), error);
  return is_printable(text) && (!error || text == "localhost");
}

bool is_node_name(std::string_view text) {
  constexpr std::size_t max_length = 40;
  return !text.empty() && text.size() <= max_length &&
         std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '-'; });
}

bool is_address_of_gateway(std::string_view text) {
  return is_origin(text) && (text.starts_with("https://") || text.starts_with("http://"));
}

template <class Target, class Place>
Value<Target> file_path(Place place) {
  return text<Target>(place, "the path of a file", is_path);
}

using S = Settings;

Value<S> level() {
  using log::Level;
  return one_of<S, Level S::*, Level>(&S::log_level, {{"trace", Level::trace},
                                                      {"debug", Level::debug},
                                                      {"info", Level::info},
                                                      {"warn", Level::warn},
                                                      {"error", Level::error},
                                                      {"off", Level::off}});
}

Value<S> one_of_formats() {
  using log::Format;
  const auto place = at(&S::logging, &S::Logging::format);
  return one_of<S, decltype(place), Format>(place, {{"text", Format::text}, {"json", Format::json}});
}

bool is_browser(std::string_view text) { return text == "deny" || (text.starts_with('/') && is_printable(text)); }

Value<S> approvals_mode() {
  const auto place = at(&S::approvals, &S::Approvals::mode);
  return one_of<S, decltype(place), ApprovalsMode>(place,
                                                   {{"ask", ApprovalsMode::ask}, {"never", ApprovalsMode::never}});
}

Value<S> cluster_files() {
  const auto place = at(&S::cluster, &S::Cluster::files);
  return one_of<S, decltype(place), ClusterFiles>(place,
                                                  {{"own", ClusterFiles::own}, {"shared", ClusterFiles::shared}});
}

Value<S> search_service() {
  const auto place = at(&S::web_search, &S::WebSearch::service);
  return one_of<S, decltype(place), std::string>(place,
                                                 {{"brave", "brave"}, {"tavily", "tavily"}, {"searxng", "searxng"}});
}

Value<S> providers() {
  return {.kind = "a map from the names of providers to their keys",
          .read =
              [](S& settings, const ConfigNode& entry) {
                if (entry.form != ConfigNode::Form::map) return false;
                read_providers(settings.providers, entry);
                return true;
              },
          .get =
              [](const S& settings) {
                json::array names;
                for (const auto& provider : settings.providers) names.emplace_back(provider.name);
                return json::value(std::move(names));
              },
          .form = ValueForm::names};
}

// NOLINTNEXTLINE(readability-function-size): a table
Keys<Settings> make_settings_keys() {
  return {
      {.name = "host",
       .text = "The address to listen on. Other than loopback, other machines can connect: see tls, hosts and origins.",
       .value = text<S>(&S::host, "an IP address or localhost", is_bindable),
       .environment = "AGENT_GATEWAY_HOST",
       .flag = "--host"},
      {.name = "port",
       .text = "The port to listen on; 0 picks a free one.",
       .value = whole_number<S>(&S::port, 0, 65535),
       .environment = "AGENT_GATEWAY_PORT",
       .flag = "--port"},
      {.name = "auth",
       .text = "How clients authenticate: with the token. With none, endpoints that require a token are unavailable.",
       .value = one_of<S, Auth S::*, Auth>(&S::auth, {{"token", Auth::token}, {"none", Auth::none}}),
       .flag = "--no-token"},
      {.name = "log_level",
       .text = "The minimum level of log messages.",
       .value = level(),
       .environment = "AGENT_GATEWAY_LOG_LEVEL",
       .flag = "--log-level",
       .change = Changeable::at_next_start},
      {.name = "log.format",
       .text = "The format of log lines: text for people, json for programs.",
       .value = one_of_formats(),
       .environment = "AGENT_GATEWAY_LOG_FORMAT",
       .change = Changeable::at_next_start},
      {.name = "hosts",
       .text = "Additional host names under which browsers and programs may reach the gateway.",
       .value = texts<S>(&S::hosts, host_names, is_host_name),
       .example = "[gateway.example.org]"},
      {.name = "origins",
       .text = "Web pages of other origins that may call the gateway.",
       .value = texts<S>(&S::origins, "a list of origins such as https://example.org, without a path", is_origin),
       .example = "[https://example.org]"},
      {.name = "public_url",
       .text = "The address in the QR code for pairing and, with tls, the one that `agw open` opens.",
       .value = text<S>(&S::public_url, a_web_address, is_web_address),
       .example = "https://gateway.example.org",
       .environment = "AGENT_GATEWAY_PUBLIC_URL"},
      {.name = "tls.cert",
       .text = "Certificate chain (PEM) for HTTPS. Paths are relative to the directory of this file.",
       .value = file_path<S>(at(&S::tls, &S::Tls::cert)),
       .example = "cert.pem"},
      {.name = "tls.key",
       .text = "The certificate's private key (PEM).",
       .value = file_path<S>(at(&S::tls, &S::Tls::key)),
       .example = "key.pem"},
      {.name = "limits.body_mib",
       .text = "The maximum size of a request body, in MiB.",
       .value = whole_number<S>(at(&S::limits, &S::Limits::body_mib), 1, 1024),
       .change = Changeable::at_next_start},
      {.name = "limits.connections",
       .text = "The maximum number of simultaneous connections.",
       .value = whole_number<S>(at(&S::limits, &S::Limits::connections), 1, 1'000'000)},
      {.name = "models.default",
       .text = "The model of chats that specify none. Without it: the default of the first configured provider.",
       .value = text<S>(at(&S::models, &S::Models::default_model), "a model such as provider/model", is_printable),
       .example = "anthropic/claude-sonnet-4-5"},
      {.name = "providers",
       .text =
           "Model services by name: kind (anthropic, openai, ollama, gemini), base_url, api_key_env or "
           "api_key_file, api "
           "(responses, chat), default_model, fallback_models. ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY, "
           "OPENAI_BASE_URL, GEMINI_API_KEY, GEMINI_BASE_URL and OLLAMA_HOST set up those of their name without "
           "this file.",
       .value = providers(),
       .example = "{workstation: {kind: openai, base_url: 'http://127.0.0.1:8000/v1', default_model: qwen3}}"},
      {.name = "sandbox",
       .text = "Where shell commands of agents run. With none, they can do whatever you can.",
       .value = one_of<S, SandboxKind S::*, SandboxKind>(
           &S::sandbox, {{"bubblewrap", SandboxKind::bubblewrap}, {"none", SandboxKind::none}})},
      {.name = "terminals",
       .text = "Whether people can open terminals on the page. Their shells run in the sandbox.",
       .value = one_of<S, TerminalsMode S::*, TerminalsMode>(
           &S::terminals, {{"allow", TerminalsMode::allow}, {"deny", TerminalsMode::deny}})},
      {.name = "browser",
       .text = "The program that chats use as their web browser, a Chromium; or deny. Without it: the first in PATH.",
       .value = text<S>(&S::browser, "a path that begins with /, or deny", is_browser),
       .example = "/usr/bin/chromium"},
      {.name = "tools.web_fetch.allow_hosts",
       .text = "Hosts that agents may fetch from at any stage, including those with private addresses.",
       .value = texts<S>(at(&S::tools, &S::Tools::web_fetch_allow_hosts), host_names, is_host_name),
       .example = "[wiki.example.org]"},
      {.name = "tools.web_search.service",
       .text = "The service that WebSearch uses. BRAVE_API_KEY, TAVILY_API_KEY and SEARXNG_URL set one up without this "
               "file.",
       .value = search_service(),
       .example = "brave"},
      {.name = "tools.web_search.base_url",
       .text = "The service's address, if it is not the vendor's own; required for searxng.",
       .value = text<S>(at(&S::web_search, &S::WebSearch::base_url), a_web_address, is_web_address),
       .example = "http://127.0.0.1:8888",
       .is_secret = true},
      {.name = "tools.web_search.api_key_env",
       .text = "The environment variable that holds the service's key.",
       .value = text<S>(at(&S::web_search, &S::WebSearch::api_key_env), "the name of an environment variable",
                        is_variable_name),
       .example = "BRAVE_API_KEY"},
      {.name = "tools.web_search.api_key_file",
       .text = "A file that contains only the service's key.",
       .value = file_path<S>(at(&S::web_search, &S::WebSearch::api_key_file)),
       .example = "brave.key"},
      {.name = "approvals.mode",
       .text = "Whether agents ask a connected person for permission that their stage does not give, or never ask.",
       .value = approvals_mode()},
      {.name = "approvals.timeout_minutes",
       .text = "How long an agent waits for the person's answer, in minutes, such as 0.5.",
       .value = number_up_to<S>(at(&S::approvals, &S::Approvals::timeout_minutes), 1440),
       .change = Changeable::at_once},
      {.name = "budget_usd_per_day",
       .text = "The daily budget of all agents together, in USD.",
       .value = amount<S>(&S::budget_usd_per_day),
       .example = "5",
       .change = Changeable::at_once},
      {.name = "retention.days",
       .text = "How long job runs, signals, trash, decided proposals and permission requests are kept, in days.",
       .value = whole_number<S>(at(&S::retention, &S::Retention::days), 1, 36500),
       .change = Changeable::at_next_start},
      {.name = "retention.turns_per_job_thread",
       .text = "How many turns a thread of a job keeps; older ones are summarised and deleted.",
       .value = whole_number<S>(at(&S::retention, &S::Retention::turns_per_job_thread), 4, 1'000'000),
       .change = Changeable::at_next_start},
      {.name = "checkpoints.file_mib",
       .text = "The maximum size of a file that is stored before an agent changes it, in MiB.",
       .value = whole_number<S>(at(&S::checkpoints, &S::Checkpoints::file_mib), 1, 1024),
       .change = Changeable::at_next_start},
      {.name = "checkpoints.total_mib",
       .text = "How much is stored to undo changes of files, in MiB; the least recently used is deleted first.",
       .value = whole_number<S>(at(&S::checkpoints, &S::Checkpoints::total_mib), 1, 1'000'000),
       .change = Changeable::at_next_start},
      {.name = "checkpoints.days",
       .text = "How long changes of files can be undone, in days.",
       .value = whole_number<S>(at(&S::checkpoints, &S::Checkpoints::days), 1, 36500),
       .change = Changeable::at_next_start},
      {.name = "cluster.database",
       .text = "A PostgreSQL database for the records, instead of gateway.db.",
       .value = text<S>(at(&S::cluster, &S::Cluster::database), "the address of a PostgreSQL database", is_printable),
       .example = "postgresql://agw:${secret:DATABASE}@localhost/agw",
       .environment = "AGENT_GATEWAY_CLUSTER_DATABASE",
       .is_secret = true},
      {.name = "cluster.node",
       .text = "This gateway's name among those that share the database. Without one, it does not share the database.",
       .value =
           text<S>(at(&S::cluster, &S::Cluster::node), "a name of up to 40 letters, digits and hyphens", is_node_name),
       .example = "a",
       .environment = "AGENT_GATEWAY_CLUSTER_NODE"},
      {.name = "cluster.events",
       .text = "A NATS server over which these gateways exchange events.",
       .value = text<S>(at(&S::cluster, &S::Cluster::events), "the address of a NATS server", is_printable),
       .example = "nats://agw:${secret:NATS}@localhost:4222",
       .environment = "AGENT_GATEWAY_CLUSTER_EVENTS",
       .is_secret = true},
      {.name = "cluster.address",
       .text =
           "The address under which the others reach this gateway and its apps; not required if all are on one host.",
       .value = text<S>(at(&S::cluster, &S::Cluster::address), "an address such as https://10.0.0.5:7420",
                        is_address_of_gateway),
       .example = "https://10.0.0.5:7420",
       .environment = "AGENT_GATEWAY_CLUSTER_ADDRESS"},
      {.name = "cluster.files",
       .text = "Whether each node has its own data directory, or all share one, on a file system that all mount.",
       .value = cluster_files()},
      {.name = "cluster.drain_seconds",
       .text = "How long the runs of a node may continue after SIGTERM, in seconds.",
       .value = whole_number<S>(at(&S::cluster, &S::Cluster::drain_seconds), 0, 3600)},
  };
}

using P = ConfiguredProvider;

Value<P> one_word_of(std::string P::* place, const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, std::string>> choices;
  choices.reserve(words.size());
  for (const auto& word : words) choices.emplace_back(word, word);
  return one_of<P, std::string P::*, std::string>(place, choices);
}

Keys<ConfiguredProvider> make_provider_keys() {
  return {
      {.name = "kind",
       .text = "The API of the service.",
       .value = one_word_of(&P::kind, {"anthropic", "openai", "ollama", "gemini"})},
      {.name = "base_url",
       .text = "The service's address, if it is not the vendor's own.",
       .value = text<P>(&P::base_url, a_web_address, is_web_address)},
      {.name = "api_key_env",
       .text = "The environment variable that holds the key.",
       .value = text<P>(&P::api_key_env, "the name of an environment variable", is_variable_name)},
      {.name = "api_key_file", .text = "A file that contains only the key.", .value = file_path<P>(&P::api_key_file)},
      {.name = "api", .text = "Which of OpenAI's APIs to use.", .value = one_word_of(&P::api, {"responses", "chat"})},
      {.name = "default_model",
       .text = "The default model of the service.",
       .value = text<P>(&P::default_model, "the name of a model", is_printable)},
      {.name = "fallback_models",
       .text = "Models that are tried in order if a model of this service fails, for programs that use it.",
       .value = texts<P>(&P::fallback_models, "a list of models such as provider/model", is_printable)},
  };
}

}  // namespace

const Keys<Settings>& settings_keys() {
  static const auto keys = make_settings_keys();
  return keys;
}

const Keys<ConfiguredProvider>& provider_keys() {
  static const auto keys = make_provider_keys();
  return keys;
}

}  // namespace agw

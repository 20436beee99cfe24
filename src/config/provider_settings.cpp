#include "config/provider_settings.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <boost/algorithm/string/trim.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>

#include "config/addresses.hpp"

namespace agw {

namespace {

struct StandardVariables {
  const char* kind;
  const char* api_key;
  const char* base_url;
};

constexpr StandardVariables standard_variables[] = {
    {"anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"},
    {"openai", "OPENAI_API_KEY", "OPENAI_BASE_URL"},
    {"ollama", nullptr, "OLLAMA_HOST"},
    {"gemini", "GEMINI_API_KEY", "GEMINI_BASE_URL"},
};

bool is_bare_v6(std::string_view host) { return is_host_name(host) && host.find(':') != host.npos; }

/// OLLAMA_HOST is also the address to which the server binds. It may therefore be a bare host, a port, or a wildcard
/// address.
std::string url_of_ollama(std::string_view host) {
  auto with_scheme = std::string(host);
  if (is_bare_v6(host)) with_scheme = "[" + with_scheme + "]";
  if (host.find("://") == std::string_view::npos) with_scheme = "http://" + with_scheme;
  const auto parsed = boost::urls::parse_uri(with_scheme);
  if (!parsed) return with_scheme;
  boost::urls::url url(*parsed);
  if (url.host().empty() || url.host() == "0.0.0.0" || url.host() == "[::]") url.set_host("127.0.0.1");
  if (!url.has_port() && url.scheme() == "http") url.set_port("11434");
  return url.buffer();
}

ConfiguredProvider& find_or_add(std::vector<ConfiguredProvider>& providers, const std::string& name) {
  const auto found = std::ranges::find(providers, name, &ConfiguredProvider::name);
  if (found != providers.end()) return *found;
  ConfiguredProvider added;
  added.name = added.kind = name;
  added.is_from_environment = true;
  return providers.emplace_back(std::move(added));
}

std::string standard_key_variable(const ConfiguredProvider& provider) {
  if (!provider.base_url.empty()) return {};
  for (const auto& usual : standard_variables) {
    if (provider.kind == usual.kind && usual.api_key) return usual.api_key;
  }
  return {};
}

/// A key becomes the value of a header.
bool fits_header(std::string_view key) {
  return std::ranges::all_of(key, [](char c) { return c > 0x20 && c < 0x7f; });
}

ApiKey check_key(std::string key, const std::string& source) {
  while (!key.empty() && (key.back() == '\n' || key.back() == '\r' || key.back() == ' ')) key.pop_back();
  if (key.empty()) return {{}, source + " is empty"};
  if (!fits_header(key)) return {{}, source + " contains spaces or other characters that are invalid in a key"};
  return {std::move(key), {}};
}

ApiKey read_key_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string key(4096, '\0');
  file.read(key.data(), static_cast<std::streamsize>(key.size()));
  if (!file.is_open() || file.bad()) return {{}, fmt::format("its api_key_file {} cannot be read", path.string())};
  key.resize(static_cast<std::size_t>(file.gcount()));
  return check_key(std::move(key), fmt::format("its api_key_file {}", path.string()));
}

ApiKey read_key_variable(const std::string& name, const Environment& environment) {
  const auto value = environment(name);
  if (!value) return {{}, fmt::format("the environment variable {} is not set", name)};
  return check_key(*value, fmt::format("the environment variable {}", name));
}

}  // namespace

void apply_environment(std::vector<ConfiguredProvider>& providers, const Environment& environment) {
  for (const auto& usual : standard_variables) {
    if (usual.api_key && environment(usual.api_key)) {
      auto& provider = find_or_add(providers, usual.kind);
      provider.api_key_file.clear();
      if (provider.api_key_env.empty()) provider.api_key_env = usual.api_key;
    }
    if (const auto address = environment(usual.base_url)) {
      const bool of_ollama = std::string_view(usual.kind) == "ollama";
      auto& provider = find_or_add(providers, usual.kind);
      const auto text = boost::trim_copy(*address);
      provider.base_url = of_ollama ? url_of_ollama(text) : text;
      if (!is_web_address(provider.base_url)) {
        provider.problem = fmt::format("the environment variable {} must be {}", usual.base_url,
                                       of_ollama ? "an address such as 127.0.0.1:11434" : a_web_address);
      }
    }
  }
}

ApiKey read_api_key(const ConfiguredProvider& provider, const Environment& environment) {
  if (!provider.problem.empty()) return {{}, provider.problem};
  if (!provider.api_key_file.empty()) return read_key_file(provider.api_key_file);
  const auto& named = provider.api_key_env;
  const auto variable = named.empty() ? standard_key_variable(provider) : named;
  return variable.empty() ? ApiKey() : read_key_variable(variable, environment);
}

}  // namespace agw

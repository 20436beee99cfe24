#include "models/settings.hpp"

#include <utility>

#include <boost/algorithm/string/trim.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>

namespace agw {

namespace {

constexpr std::string_view default_base_url(ProviderKind kind) {
  switch (kind) {
    case ProviderKind::anthropic:
      return "https://api.anthropic.com";
    case ProviderKind::openai:
      return "https://api.openai.com/v1";
    case ProviderKind::ollama:
      return "http://127.0.0.1:11434";
  }
  return {};
}

constexpr std::string_view default_model(ProviderKind kind) {
  switch (kind) {
    case ProviderKind::anthropic:
      return "claude-sonnet-5-5";
    case ProviderKind::openai:
      return "gpt-6.2-sol";
    case ProviderKind::ollama:
      return "qwen3";
  }
  return {};
}

/// OLLAMA_HOST is also what the server binds to, so it may be a bare host, a port, or an address that means "all".
std::string url_of_ollama(std::string_view host) {
  const std::string with_scheme = (host.find("://") == std::string_view::npos ? "http://" : "") + std::string(host);
  const auto parsed = boost::urls::parse_uri(with_scheme);
  if (!parsed) return with_scheme;
  boost::urls::url url(*parsed);
  if (url.host().empty() || url.host() == "0.0.0.0" || url.host() == "[::]") url.set_host("127.0.0.1");
  if (!url.has_port() && url.scheme() == "http") url.set_port("11434");
  return url.buffer();
}

}  // namespace

std::string_view to_string(ProviderKind kind) { return boost::describe::enum_to_string(kind, ""); }

std::vector<ProviderSettings> providers_from_environment(const GetEnvironment& get) {
  std::vector<ProviderSettings> found;
  const auto add = [&](ProviderKind kind, std::string key, std::string base_url) {
    if (key.empty() && base_url.empty()) return;
    found.push_back({.name = std::string(to_string(kind)), .kind = kind, .base_url = base_url, .api_key = key});
  };
  add(ProviderKind::anthropic, get("ANTHROPIC_API_KEY"), get("ANTHROPIC_BASE_URL"));
  add(ProviderKind::openai, get("OPENAI_API_KEY"), get("OPENAI_BASE_URL"));
  const auto host = get("OLLAMA_HOST");
  if (!host.empty()) add(ProviderKind::ollama, {}, url_of_ollama(host));
  return found;
}

ProviderSettings complete(ProviderSettings settings) {
  boost::trim(settings.base_url);
  boost::trim(settings.api_key);
  if (settings.base_url.empty()) settings.base_url = default_base_url(settings.kind);
  boost::trim_right_if(settings.base_url, [](char c) { return c == '/'; });
  if (settings.default_model.empty()) settings.default_model = default_model(settings.kind);
  if (!settings.api) settings.api = is_openais_own(settings.base_url) ? OpenAiApi::responses : OpenAiApi::chat;
  return settings;
}

bool is_openais_own(std::string_view base_url) {
  const auto url = boost::urls::parse_uri(base_url);
  if (!url) return false;
  const auto host = url->host();
  return host == "api.openai.com" || host.ends_with(".api.openai.com");
}

}  // namespace agw

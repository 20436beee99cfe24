#include "models/settings.hpp"

#include <algorithm>

#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "io/http/web_url.hpp"

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
    case ProviderKind::gemini:
      return "https://generativelanguage.googleapis.com";
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
    case ProviderKind::gemini:
      return "gemini-flash-latest";
  }
  return {};
}

std::string host_of(std::string_view base_url) {
  const auto url = boost::urls::parse_uri(base_url);
  return url ? std::string(url->host()) : std::string();
}

}  // namespace

std::string_view to_string(ProviderKind kind) { return boost::describe::enum_to_string(kind, ""); }

ProviderSettings complete(ProviderSettings settings) {
  boost::trim(settings.base_url);
  boost::trim(settings.api_key);
  if (settings.base_url.empty()) settings.base_url = default_base_url(settings.kind);
  boost::trim_right_if(settings.base_url, [](char c) { return c == '/'; });
  if (settings.default_model.empty()) settings.default_model = default_model(settings.kind);
  if (!settings.api) settings.api = is_openai_service(settings.base_url) ? OpenAiApi::responses : OpenAiApi::chat;
  return settings;
}

std::string service_url(std::string_view base_url, std::string_view path, std::string_view model) {
  const auto query = std::min(base_url.find('?'), base_url.size());
  std::string url(base_url.substr(0, query));
  boost::trim_right_if(url, [](char c) { return c == '/'; });
  url.append(path).append(base_url.substr(query));
  boost::replace_all(url, "{model}", percent_encode(model));
  return url;
}

bool is_anthropic_service(std::string_view base_url) { return host_of(base_url) == "api.anthropic.com"; }

bool is_openai_service(std::string_view base_url) {
  const auto host = host_of(base_url);
  return host == "api.openai.com" || host.ends_with(".api.openai.com");
}

}  // namespace agw

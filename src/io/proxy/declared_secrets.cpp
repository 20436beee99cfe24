#include "io/proxy/declared_secrets.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>

#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

constexpr std::uint16_t https_port = 443;
constexpr std::size_t max_secrets = 32;
constexpr std::string_view beneath = "*.";

constexpr std::array<std::string_view, 15> authority_variables{"SSL_CERT_FILE",
                                                               "CURL_CA_BUNDLE",
                                                               "REQUESTS_CA_BUNDLE",
                                                               "NODE_EXTRA_CA_CERTS",
                                                               "GIT_SSL_CAINFO",
                                                               "CARGO_HTTP_CAINFO",
                                                               "PIP_CERT",
                                                               "AWS_CA_BUNDLE",
                                                               "DENO_CERT",
                                                               "NIX_SSL_CERT_FILE",
                                                               "HTTPLIB2_CA_CERTS",
                                                               "BUNDLE_SSL_CA_CERT",
                                                               "COMPOSER_CAFILE",
                                                               "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
                                                               "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE"};

/// Variables that the system, a shell, an interpreter or the gateway reads itself.
constexpr std::array<std::string_view, 25> reserved{
    "PATH",       "HOME",     "SHELL",        "USER",      "LOGNAME",
    "PWD",        "TMPDIR",   "TERM",         "LANG",      "IFS",
    "ENV",        "BASH_ENV", "BASHOPTS",     "SHELLOPTS", "PS4",
    "PORT",       "HOST",     "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH",
    "PYTHONHOME", "PERL5LIB", "PERL5OPT",     "RUBYOPT",   "NODE_USE_ENV_PROXY"};
constexpr std::array<std::string_view, 5> reserved_beginnings{"LD_", "DYLD_", "LC_", "AGW_", "GIT_"};

bool is_reserved(const std::string& name) {
  const auto is_name = [&](std::string_view each) { return name == each; };
  const auto begins = [&](std::string_view each) { return name.starts_with(each); };
  return std::ranges::any_of(reserved, is_name) || std::ranges::any_of(authority_variables, is_name) ||
         std::ranges::any_of(reserved_beginnings, begins) || boost::to_upper_copy(name).ends_with("_PROXY");
}

/// Whether the store of secrets accepts the name.
bool is_secret_name(std::string_view name) {
  constexpr std::size_t max_length = 128;
  return is_variable_name(name) && name.size() <= max_length;
}

std::vector<HostPattern> patterns_in(const json::object& member, std::string_view name) {
  std::vector<HostPattern> patterns;
  for (const auto& text : strings_of(member, name)) {
    if (auto pattern = to_host_pattern(text)) patterns.push_back(*std::move(pattern));
  }
  return patterns;
}

/// Collects the problems of one member.
class MemberChecks {
public:
  MemberChecks(std::string path, Problems& problems) : path_(std::move(path)), problems_(problems) {}

  void variable(const std::string& name, const json::object& definition) {
    if (!is_variable_name(name))
      report(path_, "is not the name of a variable: letters, digits and _, not beginning with a digit");
    else if (is_reserved(name))
      report(path_, "is a variable that programs, shells or the gateway use themselves: choose another");
    const auto* set = object_member(definition, "env");
    if (set && set->contains(name)) report(path_, "is in definition.env too: name the variable in one of them");
  }

  void secret(const json::object& member) {
    if (const auto name = string_member(member, "secret"); name && !is_secret_name(*name))
      report(path_ + ".secret", "must be the name of a secret, such as GITHUB_TOKEN, without ${secret:…} around it");
  }

  void some_host(const json::object& member) {
    const auto* listed = array_member(member, "hosts");
    if (listed && listed->empty()) report(path_ + ".hosts", "must name at least one host");
  }

  void hosts(const json::object& member, std::string_view name) {
    const auto* listed = array_member(member, name);
    const auto place = fmt::format("{}.{}", path_, name);
    for (std::size_t i = 0; listed && i < listed->size(); ++i) {
      const auto* text = (*listed)[i].if_string();
      if (text && !to_host_pattern(*text)) {
        report(fmt::format("{}[{}]", place, i),
               "must be a host, such as api.example.com, api.example.com:8443 or *.example.com");
      }
    }
  }

private:
  void report(const std::string& path, std::string_view what) {
    problems_.push_back({path, path + " " + std::string(what)});
  }

  std::string path_;
  Problems& problems_;
};

}  // namespace

bool HostPattern::matches(const HostPort& target) const {
  if (target.port != named.port) return false;
  const std::string_view name = named.host;
  return name.starts_with(beneath) ? target.host.ends_with(name.substr(1)) : target.host == name;
}

std::optional<HostPattern> to_host_pattern(std::string_view text) {
  const auto read = to_host_port(text, https_port);
  if (!read) return std::nullopt;
  std::string_view name = read->host;
  if (name.starts_with(beneath)) {
    name.remove_prefix(beneath.size());
    if (name.find('.') == name.npos) return std::nullopt;
  }
  const bool is_plain = std::ranges::all_of(
      name, [](char c) { return is_lower(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == ':'; });
  if (!is_plain || name.starts_with('.') || name.find("..") != name.npos) return std::nullopt;
  return HostPattern{.named = *read};
}

std::vector<DeclaredSecret> declared_secrets(const json::object& definition) {
  std::vector<DeclaredSecret> declared;
  const auto* members = object_member(definition, "secrets");
  if (!members) return declared;
  for (const auto& [name, value] : *members) {
    if (const auto* member = value.if_object()) {
      declared.push_back({.variable = name,
                          .secret = string_or_empty(*member, "secret"),
                          .hosts = patterns_in(*member, "hosts"),
                          .pass_through = patterns_in(*member, "pass_through")});
    }
  }
  return declared;
}

Problems declared_secret_problems(const json::object& definition) {
  Problems problems;
  const auto* members = object_member(definition, "secrets");
  if (!members) return problems;
  if (members->size() > max_secrets) {
    problems.push_back(
        {"definition.secrets", fmt::format("definition.secrets must have at most {} members", max_secrets)});
  }
  for (const auto& [name, value] : *members) {
    MemberChecks checks("definition.secrets." + std::string(name), problems);
    checks.variable(name, definition);
    const auto* member = value.if_object();
    if (!member) continue;
    checks.secret(*member);
    checks.some_host(*member);
    checks.hosts(*member, "hosts");
    checks.hosts(*member, "pass_through");
  }
  return problems;
}

std::vector<std::string> certificate_variables() { return {authority_variables.begin(), authority_variables.end()}; }

}  // namespace agw

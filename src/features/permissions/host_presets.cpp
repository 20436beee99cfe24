#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "features/permissions/service.hpp"

namespace agw {

namespace {

using Hosts = std::span<const std::string_view>;

// The hosts that each service documents for firewalls, including those of downloads.
constexpr std::array<std::string_view, 3> npm{"registry.npmjs.org", "registry.yarnpkg.com", "nodejs.org"};
constexpr std::array<std::string_view, 2> pypi{"pypi.org", "files.pythonhosted.org"};
constexpr std::array<std::string_view, 5> github{"github.com", "api.github.com", "codeload.github.com", "ghcr.io",
                                                 "*.githubusercontent.com"};
constexpr std::array<std::string_view, 2> debian{"deb.debian.org", "*.debian.org"};
constexpr std::array<std::string_view, 3> crates{"crates.io", "index.crates.io", "static.crates.io"};
constexpr std::array<std::string_view, 3> go{"proxy.golang.org", "sum.golang.org", "storage.googleapis.com"};

struct Preset {
  std::string_view name;
  Hosts hosts;
};
constexpr std::array presets{Preset{"npm", npm},       Preset{"pypi", pypi},     Preset{"github", github},
                             Preset{"debian", debian}, Preset{"crates", crates}, Preset{"go", go}};

}  // namespace

std::vector<std::string> preset_hosts(const std::string& name) {
  const auto found = std::ranges::find(presets, name, &Preset::name);
  if (found == presets.end()) return {name};
  return {found->hosts.begin(), found->hosts.end()};
}

bool is_host_preset(std::string_view name) { return contains(presets, name, &Preset::name); }

std::optional<std::vector<std::string>> hosts_in(const json::object& definition) {
  const auto* names = array_member(definition, "hosts");
  if (!names) return std::nullopt;
  std::vector<std::string> hosts;
  for (const auto& name : strings_of(*names)) {
    auto more = preset_hosts(name);
    hosts.insert(hosts.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
  }
  return hosts;
}

bool names_loopback(const std::optional<std::vector<std::string>>& hosts) {
  constexpr std::array<std::string_view, 3> starts{"localhost", "127.0.0.1", "[::1]"};
  const auto is_loopback = [&](std::string_view host) {
    return std::ranges::any_of(starts, [&](auto start) {
      return host.starts_with(start) && (host.size() == start.size() || host[start.size()] == ':');
    });
  };
  return hosts && std::ranges::any_of(*hosts, is_loopback);
}

}  // namespace agw

#include "features/browsers/identity.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace agw {

namespace {

std::optional<unsigned> major_version(std::string_view version) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

/// The brands in Chromium's order. One is made up, so that sites do not compare lists: its name and version and the
/// order follow from the major version (GetGreasedUserAgentBrandVersion in Chromium's user_agent_utils.cc).
json::array brands(unsigned major, bool is_full, std::string_view version) {
  static constexpr std::string_view separators = " (:-./);=?_";
  static constexpr std::array<std::string_view, 3> made_up_versions{"8", "99", "24"};
  const auto separator = [major](unsigned offset) { return separators[(major + offset) % separators.size()]; };
  const json::object made_up{
      {"brand", fmt::format("Not{}A{}Brand", separator(0), separator(1))},
      {"version", fmt::format("{}{}", made_up_versions[major % made_up_versions.size()], is_full ? ".0.0.0" : "")}};
  const json::object chromium{{"brand", "Chromium"},
                              {"version", is_full ? std::string(version) : fmt::to_string(major)}};
  return major % 2 == 0 ? json::array{made_up, chromium} : json::array{chromium, made_up};
}

}  // namespace

std::string ordinary_user_agent(std::string_view major) {
  return fmt::format(
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 Safari/537.36", major);
}

json::object ordinary_identity(std::string_view product) {
  const auto version = product.substr(product.find('/') + 1);
  const auto major = major_version(version);
  if (!major) return {};
#if defined(__aarch64__)
  constexpr auto architecture = "arm";
#else
  constexpr auto architecture = "x86";
#endif
  return {{"userAgent", ordinary_user_agent(fmt::to_string(*major))},
          {"userAgentMetadata", json::object{{"brands", brands(*major, false, version)},
                                             {"fullVersionList", brands(*major, true, version)},
                                             {"platform", "Linux"},
                                             {"platformVersion", ""},
                                             {"architecture", architecture},
                                             {"bitness", "64"},
                                             {"model", ""},
                                             {"mobile", false}}}};
}

}  // namespace agw

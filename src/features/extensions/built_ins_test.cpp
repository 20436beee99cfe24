#include "features/extensions/built_ins.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "features/extensions/validation.hpp"

namespace agw {
namespace {

std::map<std::string, Extension> by_name() {
  std::map<std::string, Extension> found;
  for (auto& extension : built_ins(Timestamp{})) found.emplace(extension.name, std::move(extension));
  return found;
}

TEST(BuiltIns, AreTheDecidedOnes) {
  std::map<std::string, std::set<std::string>> names;
  for (const auto& [name, extension] : by_name()) names[std::string(to_text(extension.type))].insert(name);
  const std::map<std::string, std::set<std::string>> decided = {
      {"agent", {"assistant"}},
      {"job", {"compile-knowledge", "self-reflect"}},
      {"command", {"help", "new", "plan", "act", "stop", "search", "remember", "jobs", "proposals"}},
      {"action", {"current-time", "calculate"}},
      {"theme", {"light", "dark"}},
      {"renderer", {"markdown", "code", "diff", "json"}},
      {"control", {"mode-switch", "stop-button"}},
      {"capability", {"read-only", "workspace", "network"}},
  };
  EXPECT_EQ(names, decided);
}

TEST(BuiltIns, PassTheRulesOfTheApi) {
  for (const auto& [name, extension] : by_name()) {
    EXPECT_TRUE(is_extension_name(name));
    EXPECT_FALSE(extension.description.empty()) << name;
    for (const auto& problem : validate_definition(extension.type, extension.definition)) {
      ADD_FAILURE() << name << ": " << problem.message;
    }
    EXPECT_EQ(extension.source, Source::built_in) << name;
  }
}

TEST(BuiltIns, AreEnabledButForSelfReflect) {
  for (const auto& [name, extension] : by_name()) EXPECT_EQ(extension.enabled, name != "self-reflect") << name;
}

TEST(BuiltIns, AreEssentialWhereTheGatewayNeedsThem) {
  for (const auto& [name, extension] : by_name()) {
    const bool needed =
        name == "assistant" || extension.type == ExtensionType::command || extension.type == ExtensionType::action;
    EXPECT_EQ(extension.essential, needed) << name;
  }
}

TEST(BuiltIns, HaveOneContentIdAsLongAsTheyAreTheSame) {
  EXPECT_EQ(built_ins_content_id().size(), 36u);
  EXPECT_EQ(built_ins_content_id(), built_ins_content_id());
}

/// The relative luminance of `#rrggbb` (WCAG 2.2).
double luminance(std::string_view color) {
  const auto channel = [&](std::size_t at) {
    const double value = std::stoi(std::string(color.substr(at, 2)), nullptr, 16) / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

double contrast(std::string_view a, std::string_view b) {
  const auto [dark, light] = std::minmax({luminance(a), luminance(b)});
  return (light + 0.05) / (dark + 0.05);
}

TEST(BuiltIns, ThemesCanBeReadByEverybody) {
  constexpr double min_text_contrast = 4.5;
  constexpr double min_shape_contrast = 3.0;
  for (const auto* theme : {"light", "dark"}) {
    const auto definition = by_name().at(theme).definition;
    const auto color = [&](std::string_view name) {
      return std::string_view(definition.members().at("colors").at(name).as_string());
    };
    for (const auto* ground : {"background", "surface"}) {
      for (const auto* text : {"text", "muted", "accent", "success", "warning", "danger"}) {
        EXPECT_GE(contrast(color(text), color(ground)), min_text_contrast) << theme << " " << text << " on " << ground;
      }
      EXPECT_GE(contrast(color("border"), color(ground)), min_shape_contrast) << theme << " on " << ground;
    }
    EXPECT_GE(contrast(color("on-accent"), color("accent")), min_text_contrast) << theme;
  }
}

}  // namespace
}  // namespace agw

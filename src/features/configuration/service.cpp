#include "features/configuration/service.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/log.hpp"
#include "config/keys.hpp"
#include "config/origins.hpp"
#include "features/approvals/service.hpp"
#include "features/costs/service.hpp"
#include "io/process/blocking.hpp"

namespace agw {

namespace {

using SettingKey = Key<Settings>;

bool is_overridden(const Origin& origin) {
  return origin.source == ValueSource::flag || origin.source == ValueSource::variable;
}

std::string name_of(const SettingKey& key, const Origin& origin) {
  return std::string(origin.source == ValueSource::flag ? key.flag : key.environment);
}

/// Everything but the values.
Setting without_value(const SettingKey& key, const Origin& origin) {
  Setting setting{.key = std::string(key.name),
                  .about = std::string(key.text),
                  .form = key.value.form,
                  .must_be = key.value.kind,
                  .choices = key.value.choices,
                  .min = key.value.min,
                  .max = key.value.max,
                  .secret = key.is_secret,
                  .source = origin.source,
                  .editable = key.change != Changeable::in_file && !is_overridden(origin),
                  .at_once = key.change == Changeable::at_once};
  if (is_overridden(origin)) setting.name = name_of(key, origin);
  if (origin.line > 0) setting.line = origin.line;
  return setting;
}

Setting describe_setting(const SettingKey& key, const Origin& origin, const Settings& running, const Settings* next) {
  static const Settings defaults;
  auto setting = without_value(key, origin);
  auto value = key.value.get(running);
  auto default_value = key.value.get(defaults);
  setting.given = value != default_value;
  if (next) {
    auto next_value = key.value.get(*next);
    setting.waits_for_restart = next_value != value;
    if (setting.waits_for_restart && !key.is_secret) setting.next_value = std::move(next_value);
  }
  setting.default_value = std::move(default_value);
  if (!key.is_secret) setting.value = std::move(value);
  return setting;
}

ConfigurationReport report_of(const SettingsSources& sources, const Settings& running) {
  const auto next = next_settings(sources);
  ConfigurationReport report{.file = sources.file.string(), .problem = next.problem};
  for (const auto& key : settings_keys()) {
    report.settings.push_back(
        describe_setting(key, origin_of(key, sources, next.file), running, next.problem ? nullptr : &next.settings));
  }
  return report;
}

ConfigNode node_of(const json::value& value) {
  using Form = ConfigNode::Form;
  if (value.is_string()) return {.form = Form::string, .text = std::string(value.get_string())};
  if (value.is_number()) return {.form = Form::number, .text = to_json(value)};
  if (value.is_bool()) return {.form = Form::boolean, .text = to_json(value)};
  return {.form = value.is_array() ? Form::list : Form::map};
}

const SettingKey* find_key(std::string_view name) {
  const auto found = std::ranges::find(settings_keys(), name, &SettingKey::name);
  return found == settings_keys().end() ? nullptr : &*found;
}

/// Returns why the value is invalid for the key, in the words of the reader of the file.
std::optional<std::string> problem_with(std::string_view name, const json::value& value) {
  const auto* key = find_key(name);
  if (!key) return "unknown key";
  if (value.is_null() || key->change == Changeable::in_file) return std::nullopt;
  try {
    Settings unused;
    read_value(*key, std::string(name), unused, node_of(value));
    return std::nullopt;
  } catch (const ConfigError& error) {
    return error.what();
  }
}

void check_values(const json::object& values) {
  json::array details;
  for (const auto& member : values) {
    if (const auto problem = problem_with(member.key(), member.value()))
      details.push_back(json::object{{"path", member.key()}, {"message", *problem}});
  }
  if (!details.empty()) throw BadRequest("validation failed", {{"details", std::move(details)}});
}

void check_changeable(const SettingKey& key, const SettingsSources& sources) {
  if (key.change == Changeable::in_file)
    throw Conflict(fmt::format("{} can only be set in {}", key.name, sources.file.string()));
  const auto origin = origin_of(key, sources, {});
  if (is_overridden(origin))
    throw Conflict(fmt::format("{} is set by {}, which overrides config.yaml", key.name, name_of(key, origin)));
}

Edits edits_of(const json::object& values) {
  Edits edits;
  for (const auto& member : values) {
    edits.emplace_back(member.key(), member.value().is_null() ? std::nullopt : std::optional(node_of(member.value())));
  }
  return edits;
}

}  // namespace

Configuration::Configuration(Rooms rooms, SettingsSources sources, Settings settings)
    : rooms_(rooms), sources_(std::move(sources)), running_(std::move(settings)) {}

Task<ConfigurationReport> Configuration::report() const {
  co_return co_await rooms_.blocking.run(
      [sources = sources_, running = running_] { return report_of(sources, running); });
}

Task<ConfigurationReport> Configuration::change(json::object values) {
  check_values(values);
  for (const auto& member : values) check_changeable(*find_key(member.key()), sources_);
  auto edits = edits_of(values);
  const auto next = co_await rooms_.blocking.run([sources = sources_, edits, editing = editing_] {
    const std::lock_guard alone(*editing);
    edit_configuration(sources, edits);
    return next_settings(sources);
  });
  // A person may have edited the file since; the report says so.
  if (!next.problem) apply(edits, next.settings);
  co_return co_await report();
}

void Configuration::apply(const Edits& edits, const Settings& next) {
  for (const auto& [name, value] : edits) {
    log::info("a person has set {} to {} in {}", name, to_json(find_key(name)->value.get(next)),
              sources_.file.string());
  }
  // All that are at_once, so that the report is the same whichever of them was changed.
  running_.budget_usd_per_day = next.budget_usd_per_day;
  running_.approvals.timeout_minutes = next.approvals.timeout_minutes;
  rooms_.costs.limit_to(running_.budget_usd_per_day);
  rooms_.approvals.wait_up_to(approval_options(running_).patience);
}

}  // namespace agw

#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/text/numbers.hpp"
#include "config/keys.hpp"

namespace agw {

/// The types of values. `place` is a member, or `at(...)` for a member of a section; `check` validates a text.
using Check = bool (*)(std::string_view text);

template <class Section, class Target, class Member>
auto at(Section Target::* section, Member Section::* member) {
  return [=](auto& target) -> auto& { return target.*section.*member; };
}

template <class Number>
std::optional<Number> yaml_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return parse_number<Number>(text);
}

template <class Target, class Place>
Value<Target> whole_number(Place place, std::int64_t min, std::int64_t max) {
  return {fmt::format("a whole number from {} to {}", min, max),
          [=](Target& target, const ConfigNode& entry) {
            const auto number = yaml_number<std::int64_t>(entry.text);
            if (!entry.is_number() || !number || *number < min || *number > max) return false;
            std::invoke(place, target) = *number;
            return true;
          },
          [=](const Target& target) { return json::value(std::invoke(place, target)); },
          ValueForm::whole_number,
          {},
          static_cast<double>(min),
          static_cast<double>(max)};
}

/// A number above 0; may be a fraction.
template <class Target, class Place>
Value<Target> number_up_to(Place place, int max) {
  return {fmt::format("a number above 0, up to {}", max),
          [=](Target& target, const ConfigNode& entry) {
            const auto number = yaml_number<double>(entry.text);
            if (!entry.is_number() || !number || !(*number > 0 && *number <= max)) return false;
            std::invoke(place, target) = *number;
            return true;
          },
          [=](const Target& target) { return json::value(std::invoke(place, target)); },
          ValueForm::number,
          {},
          0,
          max};
}

/// An optional amount.
template <class Target, class Place>
Value<Target> amount(Place place) {
  return {"a number from 0 up",
          [=](Target& target, const ConfigNode& entry) {
            const auto number = yaml_number<double>(entry.text);
            if (!entry.is_number() || !number || !std::isfinite(*number) || *number < 0) return false;
            std::invoke(place, target) = number;
            return true;
          },
          [=](const Target& target) {
            const auto& amount = std::invoke(place, target);
            return amount ? json::value(*amount) : json::value();
          },
          ValueForm::number,
          {},
          0};
}

template <class Target, class Place>
Value<Target> text(Place place, std::string kind, Check check) {
  return {std::move(kind),
          [=](Target& target, const ConfigNode& entry) {
            if (!entry.is_text() || !check(entry.text)) return false;
            std::invoke(place, target) = entry.text;
            return true;
          },
          [=](const Target& target) {
            const std::string text = std::invoke(place, target);
            return text.empty() ? json::value() : json::value(text);
          }};
}

template <class Target, class Place>
Value<Target> texts(Place place, std::string kind, Check check) {
  return {std::move(kind),
          [=](Target& target, const ConfigNode& entry) {
            if (entry.form != ConfigNode::Form::list) return false;
            auto& list = std::invoke(place, target);
            list.clear();
            for (const auto& item : entry.children) {
              if (!item.is_text() || !check(item.text)) throw InvalidItem{item};
              list.push_back(item.text);
            }
            return true;
          },
          [=](const Target& target) {
            const auto& list = std::invoke(place, target);
            return json::value(json::array(list.begin(), list.end()));
          },
          ValueForm::texts};
}

template <class Target, class Place, class Choice>
Value<Target> one_of(Place place, std::vector<std::pair<std::string, Choice>> choices) {
  std::string names;
  std::vector<std::string> words;
  for (const auto& choice : choices) {
    names += (names.empty() ? "" : ", ") + choice.first;
    words.push_back(choice.first);
  }
  return {"one of " + names,
          [=](Target& target, const ConfigNode& entry) {
            const auto chosen = std::ranges::find(choices, entry.text, &std::pair<std::string, Choice>::first);
            if (!entry.is_text() || chosen == choices.end()) return false;
            std::invoke(place, target) = chosen->second;
            return true;
          },
          [=](const Target& target) {
            const auto shown =
                std::ranges::find(choices, Choice(std::invoke(place, target)), &std::pair<std::string, Choice>::second);
            return shown == choices.end() ? json::value() : json::value(shown->first);
          },
          ValueForm::choice, std::move(words)};
}

}  // namespace agw

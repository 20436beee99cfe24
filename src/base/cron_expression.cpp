#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <boost/algorithm/string.hpp>

#include "base/cron.hpp"
#include "base/json/json.hpp"
#include "base/text/numbers.hpp"

namespace agw {

namespace {

/// The values that one field of an expression accepts.
struct FieldRules {
  std::string_view name;
  int low;
  int high;
  int size;                                      ///< the maximum step
  std::span<const std::string_view> names = {};  ///< names of the values, starting with `low`
  bool wraps = false;                            ///< the maximum is another name of the minimum (Sunday)
};

constexpr std::array<std::string_view, 12> month_names = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                          "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> weekday_names = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

constexpr FieldRules second_rules{"second", 0, 59, 60};
constexpr FieldRules minute_rules{"minute", 0, 59, 60};
constexpr FieldRules hour_rules{"hour", 0, 23, 24};
constexpr FieldRules day_of_month_rules{"day of month", 1, 31, 31};
constexpr FieldRules month_rules{"month", 1, 12, 12, month_names};
constexpr FieldRules day_of_week_rules{"day of week", 0, 7, 7, weekday_names, true};

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> macros = {{{"@YEARLY", "0 0 1 1 *"},
                                                                                  {"@ANNUALLY", "0 0 1 1 *"},
                                                                                  {"@MONTHLY", "0 0 1 * *"},
                                                                                  {"@WEEKLY", "0 0 * * 0"},
                                                                                  {"@DAILY", "0 0 * * *"},
                                                                                  {"@MIDNIGHT", "0 0 * * *"},
                                                                                  {"@HOURLY", "0 * * * *"}}};

[[noreturn]] void refuse(const FieldRules& rules, std::string_view item, std::string_view why) {
  throw CronError(fmt::format("{}: \"{}\" {}", rules.name, to_utf8(item.substr(0, 40)), why));
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators, bool keep_empty) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find_first_of(separators, begin), text.size());
    if (keep_empty || end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::optional<int> number(std::string_view text) {
  const bool is_digits = text.find_first_not_of("0123456789") == text.npos;
  return is_digits ? parse_number<int>(text) : std::nullopt;
}

std::optional<int> value_of(const FieldRules& rules, std::string_view text) {
  const auto name = std::find(rules.names.begin(), rules.names.end(), text);
  if (name != rules.names.end()) return rules.low + static_cast<int>(name - rules.names.begin());
  const auto value = number(text);
  return value && *value >= rules.low && *value <= rules.high ? value : std::nullopt;
}

int require_value(const FieldRules& rules, std::string_view item, std::string_view text) {
  if (const auto value = value_of(rules, text)) return *value;
  const auto names =
      rules.names.empty() ? std::string() : fmt::format(", {} to {}", rules.names.front(), rules.names.back());
  refuse(rules, item, fmt::format("is not of {} to {}{}", rules.low, rules.high, names));
}

struct Range {
  int low;
  int high;
};

/// `*`, a value, or `low-high`.
Range read_range(const FieldRules& rules, std::string_view item, std::string_view text) {
  if (text == "*" || text == "?") return {rules.low, rules.wraps ? rules.high - 1 : rules.high};
  const auto hyphen = text.find('-');
  if (hyphen == text.npos) {
    const int value = require_value(rules, item, text);
    return {value, value};
  }
  const int low = require_value(rules, item, text.substr(0, hyphen));
  int high = require_value(rules, item, text.substr(hyphen + 1));
  // A Sunday at the end of a range follows Saturday.
  if (rules.wraps && text.substr(hyphen + 1) == rules.names.front()) high = rules.high;
  if (low > high) refuse(rules, item, "ends before it begins");
  return {low, high};
}

/// Adds the values of an item: a range, perhaps with a step.
template <std::size_t Size>
void read_item(const FieldRules& rules, std::string_view item, std::bitset<Size>& values) {
  const auto slash = item.find('/');
  const auto range_text = item.substr(0, slash);
  const auto range = read_range(rules, item, range_text);
  int step = 1;
  if (slash != item.npos) {
    if (range_text != "*" && range_text.find('-') == range_text.npos) refuse(rules, item, "has a step without a range");
    const auto given = number(item.substr(slash + 1));
    if (!given || *given < 1 || *given > rules.size)
      refuse(rules, item, fmt::format("needs a step of 1 to {}", rules.size));
    step = *given;
  }
  const int modulus = rules.wraps ? rules.high : rules.high + 1;
  for (int value = range.low; value <= range.high; value += step) values.set(static_cast<std::size_t>(value % modulus));
}

template <std::size_t Size>
std::bitset<Size> read_field(const FieldRules& rules, std::string_view field) {
  std::bitset<Size> values;
  for (const auto item : split(field, ",", true)) read_item(rules, item, values);
  return values;
}

bool is_any(std::string_view field) { return field == "*" || field == "?"; }

}  // namespace

Cron::Cron(std::string_view expression) {
  // A YAML block text ends with a line feed.
  auto text = boost::trim_copy(upper(expression));
  if (const auto words = split(text, " \t", false); words.size() == 1 && words[0].starts_with('@')) {
    const auto macro =
        std::find_if(macros.begin(), macros.end(), [&](const auto& entry) { return entry.first == words[0]; });
    if (macro == macros.end()) {
      throw CronError("a macro is one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly");
    }
    text = macro->second;
  }
  auto fields = split(text, " \t", false);
  if (fields.size() != 5 && fields.size() != 6) {
    throw CronError(
        fmt::format("needs 5 fields (minute hour day month weekday) or 6 (seconds first), not {}", fields.size()));
  }
  if (fields.size() == 5) fields.insert(fields.begin(), "0");
  seconds_ = read_field<60>(second_rules, fields[0]);
  minutes_ = read_field<60>(minute_rules, fields[1]);
  hours_ = read_field<24>(hour_rules, fields[2]);
  read_days_of_month(fields[3]);
  months_ = read_field<13>(month_rules, fields[4]);
  read_days_of_week(fields[5]);
  one_time_of_day_ = seconds_.count() == 1 && minutes_.count() == 1 && hours_.count() == 1;
}

void Cron::read_days_of_month(std::string_view field) {
  any_day_of_month_ = is_any(field);
  last_weekday_ = field == "LW";
  if (any_day_of_month_ || last_weekday_) return;
  for (const auto item : split(field, ",", true)) read_day_of_month(item);
}

void Cron::read_day_of_month(std::string_view item) {
  if (item == "L") {
    last_day_ = true;
  } else if (item == "LW") {
    refuse(day_of_month_rules, item, "must stand alone");
  } else if (item.ends_with('W')) {
    weekdays_nearest_.set(
        static_cast<std::size_t>(require_value(day_of_month_rules, item, item.substr(0, item.size() - 1))));
  } else {
    read_item(day_of_month_rules, item, days_);
  }
}

void Cron::read_days_of_week(std::string_view field) {
  any_day_of_week_ = is_any(field);
  if (any_day_of_week_) return;
  for (const auto item : split(field, ",", true)) read_day_of_week(item);
}

void Cron::read_day_of_week(std::string_view item) {
  const auto& rules = day_of_week_rules;
  const auto hash = item.find('#');
  if (hash != item.npos) {
    const auto which = item.substr(hash + 1);
    const auto n = number(which);
    if (which != "L" && (!n || *n < 1 || *n > 5)) refuse(rules, item, "needs 1 to 5 or L behind the #");
    if (is_any(item.substr(0, hash))) refuse(rules, item, "needs a weekday before the #");
    read_item(rules, item.substr(0, hash), n ? nth_of_month_[static_cast<std::size_t>(*n)] : last_of_month_);
  } else if (item.size() > 1 && item.ends_with('L')) {
    last_of_month_.set(static_cast<std::size_t>(require_value(rules, item, item.substr(0, item.size() - 1)) % 7));
  } else {
    read_item(rules, item, days_of_week_);
  }
}

}  // namespace agw

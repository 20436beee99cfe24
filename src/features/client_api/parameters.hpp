#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

/// More tokens than any model can read or write. Larger numbers are rejected.
inline constexpr std::int64_t max_token_count = 100'000'000;

/// Reads the parameters of a request body. Errors contain their paths (`messages[2].content`). A member that is null
/// counts as absent. All readers throw ApiError 400 if the member has the wrong type.
class Parameters {
public:
  explicit Parameters(const json::object& object, std::string path = {});

  std::string path_of(std::string_view name) const;
  /// Null if the member is absent.
  const json::value* find(std::string_view name);

  std::optional<std::string> text(std::string_view name);
  std::string required_text(std::string_view name);
  std::optional<bool> flag(std::string_view name);
  std::optional<double> number(std::string_view name, double min, double max);
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t min, std::int64_t max);
  const json::object* object(std::string_view name);
  const json::array* array(std::string_view name, std::size_t max_size);

  /// Accepts members that have no effect on the answer.
  void ignore(std::initializer_list<std::string_view> names);
  /// Throws ApiError 400 for the first member that was neither read nor ignored, so that no parameter is lost silently.
  void finish() const;

private:
  const json::object& object_;
  const std::string path_;
  std::set<std::string_view> known_;
};

/// The value of an array element that must be an object; otherwise throws ApiError 400 that names `path`.
const json::object& object_at(const json::value& value, const std::string& path);

}  // namespace agw

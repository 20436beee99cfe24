#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/json/json.hpp"

namespace agw {

/// A JSON value that never changes, and that copies share: copying is cheap however large the value is.
/// Example: src/base/json/shared_json_test.cpp: SharedJson.IsNotCopied
class SharedJson {
public:
  SharedJson() = default;  ///< null
  template <typename T>
    requires(!std::same_as<std::remove_cvref_t<T>, SharedJson> && std::convertible_to<T, json::value>)
  SharedJson(T&& value) : shared_(std::make_shared<Shared>(json::value(std::forward<T>(value)))) {}

  const json::value& operator*() const { return shared_ ? shared_->value : null(); }
  const json::value* operator->() const { return &**this; }

  /// The length of the value as JSON, in bytes. Written only once.
  std::size_t text_size() const;

private:
  struct Shared {
    explicit Shared(json::value made) : value(std::move(made)) {}
    const json::value value;
    std::atomic<std::size_t> text_size = 0;  ///< 0: not known yet
  };

  static const json::value& null();

  std::shared_ptr<Shared> shared_;
};

}  // namespace agw

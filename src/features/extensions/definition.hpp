#pragma once

#include <memory>
#include <string>

#include "base/json/json.hpp"

namespace agw {

/// A JSON object of an extension (its definition or trigger). Holds the text that is stored and sent, and parses it
/// only on the first access to its members, so that starting with thousands of extensions parses none. Copies share the
/// text. Several threads may read it.
class Definition {
public:
  /// `{}`.
  Definition();
  Definition(json::object members);
  /// Creates one from the result of an earlier `text()`.
  static Definition stored(std::string_view text);

  const std::string& text() const;
  const json::object& members() const;
  operator const json::object&() const { return members(); }

private:
  struct State;
  explicit Definition(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace agw

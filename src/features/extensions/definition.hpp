#pragma once

#include <memory>
#include <string>

#include "base/json/json.hpp"

namespace agw {

/// A JSON object that an extension carries (its definition, its trigger), kept as the text it is stored and answered
/// as, and parsed when somebody first looks inside: a start with thousands of extensions parses none. Copies share the
/// text. May be read from several threads.
class Definition {
public:
  /// `{}`.
  Definition();
  Definition(json::object members);
  /// From the text of an object that `text` gave before.
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

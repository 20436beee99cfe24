#pragma once

#include <string>
#include <string_view>

#include "api/error.hpp"
#include "base/async/task.hpp"
#include "features/client_api/types.hpp"
#include "models/call_features.hpp"

namespace agw {

/// Writes one answer in a protocol, either as a whole or as a stream: `begin`, any number of `delta`, then `end` or
/// `fail`, once. Each returns the bytes to send, which may be none.
class AnswerWriter {
public:
  virtual ~AnswerWriter() = default;

  /// The protocol's name of the parameter.
  virtual std::string_view name_of(const CallFeature& feature) const = 0;

  /// Called with the complete answer before `body` or `end`, to store it.
  virtual Task<> before_end(const ClientAnswer& /*answer*/) { co_return; }

  /// The body of a response that is not streamed.
  virtual std::string body(const ClientAnswer& answer) = 0;

  // A stream. `answer` is the answer so far, including the delta.

  virtual std::string begin(const ClientAnswer& answer) = 0;
  virtual std::string delta(const ClientAnswer& answer, const Delta& delta) = 0;
  virtual std::string end(const ClientAnswer& answer) = 0;
  virtual std::string fail(const ClientAnswer& answer, const ApiError& error) = 0;
  /// Sent when nothing else was for a while.
  virtual std::string keep_alive() const { return ": keep-alive\n\n"; }
};

}  // namespace agw

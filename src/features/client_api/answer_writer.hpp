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

  /// What the protocol calls the parameter.
  virtual std::string_view name_of(const CallFeature& feature) const = 0;

  /// Called before `whole` or `end`, with the whole answer: what has to be stored first.
  virtual Task<> before_end(const ClientAnswer& /*answer*/) { co_return; }

  /// The body of a response that is not streamed.
  virtual std::string whole(const ClientAnswer& answer) = 0;

  // A stream. `answer` is how far it has come, with the delta.

  virtual std::string begin(const ClientAnswer& answer) = 0;
  virtual std::string delta(const ClientAnswer& answer, const Delta& delta) = 0;
  virtual std::string end(const ClientAnswer& answer) = 0;
  virtual std::string fail(const ClientAnswer& answer, const ApiError& error) = 0;
  /// Sent while nothing else is.
  virtual std::string keep_alive() const { return ": keep-alive\n\n"; }
};

}  // namespace agw

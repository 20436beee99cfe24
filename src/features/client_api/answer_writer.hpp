#pragma once

#include <string>
#include <string_view>

#include "api/error.hpp"
#include "base/async/task.hpp"
#include "features/client_api/types.hpp"
#include "models/call_features.hpp"

namespace agw {

/// Writes one answer in a protocol, either as a whole or as a stream: one `begin`, any number of `delta`, then one
/// `end` or `fail`. Each returns the bytes to send, which may be empty.
class AnswerWriter {
public:
  virtual ~AnswerWriter() = default;

  /// The protocol's name of the parameter.
  virtual std::string_view name_of(const CallFeature& feature) const = 0;

  /// Called with the complete answer before `body` or `end`, so that the writer can store it.
  virtual Task<> before_end(const ClientAnswer& /*answer*/) { co_return; }

  /// The body of a response without a stream.
  virtual std::string body(const ClientAnswer& answer) = 0;

  // The parts of a stream. `answer` is the answer so far, including the delta.

  virtual std::string begin(const ClientAnswer& answer) = 0;
  virtual std::string delta(const ClientAnswer& answer, const Delta& delta) = 0;
  virtual std::string end(const ClientAnswer& answer) = 0;
  virtual std::string fail(const ClientAnswer& answer, const ApiError& error) = 0;
  /// Whether a stream tells the error even if nothing was sent, and the status could.
  virtual bool tells_in_stream(const ApiError& /*error*/) const { return false; }
  /// The bytes to send when the stream has been silent for too long.
  virtual std::string keep_alive() const { return ": keep-alive\n\n"; }
};

}  // namespace agw

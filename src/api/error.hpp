#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <string>

#include "base/json/json.hpp"

namespace agw {

/// An error response, thrown where the error is found and converted to a Response in one place. `error` is a literal of
/// the specification; `extra` has additional members, such as `details` or `agent_id`.
class ApiError : public std::exception {
public:
  ApiError(int status, std::string error, json::object extra = {})
      : status_(status), error_(std::move(error)), extra_(std::move(extra)) {}

  int status() const { return status_; }
  const std::string& error() const { return error_; }
  const json::object& extra() const { return extra_; }
  /// How long the client should wait before another attempt, sent as `Retry-After`.
  std::optional<std::chrono::seconds> retry_after() const { return retry_after_; }
  void set_retry_after(std::chrono::seconds delay) { retry_after_ = delay; }
  const char* what() const noexcept override { return error_.c_str(); }

private:
  int status_;
  std::string error_;
  json::object extra_;
  std::optional<std::chrono::seconds> retry_after_;
};

/// The error as one text for people: `error` and the messages in its `details`.
std::string text_with_details(const ApiError& error);

template <int Status>
class ErrorOfStatus : public ApiError {
public:
  explicit ErrorOfStatus(std::string error, json::object extra = {})
      : ApiError(Status, std::move(error), std::move(extra)) {}
};

using BadRequest = ErrorOfStatus<400>;
using Unauthorized = ErrorOfStatus<401>;
using Forbidden = ErrorOfStatus<403>;
using NotFound = ErrorOfStatus<404>;
using Conflict = ErrorOfStatus<409>;
using PayloadTooLarge = ErrorOfStatus<413>;
using TooManyRequests = ErrorOfStatus<429>;
using BadGateway = ErrorOfStatus<502>;
using InsufficientStorage = ErrorOfStatus<507>;

}  // namespace agw

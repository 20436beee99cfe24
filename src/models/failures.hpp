#pragma once

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"
#include "base/time/time.hpp"
#include "io/http/http_client.hpp"
#include "models/model.hpp"
#include "models/settings.hpp"

namespace agw {

/// An error reported by a provider: an object, a string, plain text or a web page, because proxies and compatible
/// servers have their own forms.
/// Example: src/models/failures_test.cpp: Failures.AreClassifiedByStatusFirst
struct ProviderError {
  std::string message;  ///< one line of valid UTF-8, of limited length; may be empty
  std::string words;    ///< its `type`, `code` and `param`, joined by spaces, and Gemini's names of quotas
  int status = 0;       ///< if `code` is a number, else 0
  std::optional<std::chrono::milliseconds> retry_after{};  ///< the delay that it requests, as Gemini's do
  std::string param{};                                     ///< ModelFailure::param
  bool has_message = false;                                ///< `message` is a member of the error

  /// Whether `message` or `words` contains one of the texts. Services begin the same word large or small, so texts
  /// often lack its first letter.
  bool mentions(std::initializer_list<std::string_view> texts) const;
  bool mentions(std::string_view text) const { return mentions({text}); }
};

/// Reads the body of an error response.
ProviderError parse_provider_error(std::string_view body);
/// The `error` of a message; null if it has none. Some services send an empty one with every answer.
const json::value* error_in(const json::object& message);
/// Reads the value of an `error` member.
ProviderError read_provider_error(const json::value& error);

/// Whether the error says that the model takes no tools, with which it does not answer.
bool is_without_tools(const ProviderError& provider_error);

/// Removes `key`, parts of it, and anything else that looks like a key from `message`, because some providers quote the
/// request in their errors.
std::string redact(std::string_view message, std::string_view key);

/// Removes all keys of the service in this way: the one in its settings and those in its headers.
std::string without_keys(std::string_view message, const ProviderSettings& settings);

/// Returns a URL without user name, password and query, so that it can be displayed. Empty if it is not a URL.
std::string redacted_url(std::string_view address);

/// The delay that the provider requests: `retry-after-ms`, else `retry-after` in seconds or as a date.
std::optional<std::chrono::milliseconds> retry_after(const HttpHead& head, Timestamp now);

/// The failure of a response whose status is not 2xx.
ModelFailure response_failure(const HttpHead& head, const ProviderError& provider_error, Timestamp now);

/// The failure of a stream that reported an error after status 200.
ModelFailure stream_failure(const ProviderError& provider_error);

}  // namespace agw

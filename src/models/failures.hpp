#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/time.hpp"
#include "io/http_client.hpp"
#include "models/model.hpp"

namespace agw {

/// What a provider says went wrong. Providers, their proxies and compatible servers say it as an object, a string,
/// plain text or a web page.
struct Complaint {
  std::string message;  ///< one line of valid UTF-8, bounded; empty where nothing was said
  std::string words;    ///< its `type`, `code` and `param`, joined by spaces
  int status = 0;       ///< where `code` is a number
};

Complaint complaint_of_body(std::string_view body);
/// From the value of an `error` member.
Complaint read_complaint(const json::value& error);

/// `message` without `key`, without parts of it, and without anything else that has the form of a key: some providers
/// repeat in their answer what they were sent.
std::string redact(std::string_view message, std::string_view key);

/// An address as far as it is fit to be shown: without a name, a password and a query. Empty where it is none.
std::string shown_address(std::string_view address);

/// How long the provider wants to be left alone: `retry-after-ms`, else `retry-after` in seconds or as a date.
std::optional<std::chrono::milliseconds> retry_after(const HttpHead& head, Timestamp now);

/// An answer with a status that is not 2xx.
ModelFailure failure_of_answer(const HttpHead& head, const Complaint& complaint, Timestamp now);

/// An error that came within a stream, whose status had been 200.
ModelFailure failure_in_stream(const Complaint& complaint);

}  // namespace agw

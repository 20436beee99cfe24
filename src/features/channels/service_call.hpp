#pragma once

#include <chrono>
#include <string>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "features/secrets/service.hpp"
#include "io/http/http_client.hpp"

namespace agw {

/// The account of a channel at its service.
struct ChannelAccount {
  std::string address;  ///< of the service, without a trailing slash
  std::string token;
  FilledSecrets secrets;    ///< the values in the token, to be removed from errors
  bool is_persons = false;  ///< made by a person, so `address` may be private
};

/// A service's response.
struct ServiceResponse {
  int status = 0;       ///< 0 if there was no response
  json::object body{};  ///< empty if it is not a JSON object
  std::string bytes{};  ///< the unparsed body, if `keeps_bytes` is set
  std::string error{};  ///< why there is no response, for people
  bool stopped = false;
  std::chrono::milliseconds retry_after{};  ///< from the header; zero if there is none
};

/// One request to the service. `path` is appended to the address.
struct ServiceCall {
  std::string method = "POST";
  std::string path;
  std::vector<HttpHeader> headers{};
  std::string body{};
  std::chrono::milliseconds idle_timeout{30'000};
  std::size_t max_bytes = 16 * 1024 * 1024;
  bool keeps_bytes = false;
};

Task<ServiceResponse> call_service(HttpClient& http, const ChannelAccount& account, ServiceCall call, StopSource& stop);

}  // namespace agw

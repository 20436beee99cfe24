#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/response.hpp"
#include "base/json/json.hpp"

namespace agw {

/// A client's request that is forwarded to another node. The node that received it has already checked it.
struct PassedRequest {
  std::string method;
  std::string path;  ///< as sent
  std::vector<std::string> segments;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<std::pair<std::string, std::string>> headers;  ///< without the client's token
  std::string host;
  std::string content;
};

/// Converts everything but the content to JSON and back. The input can be trusted: messages are sealed by nodes.
json::object head_of(const PassedRequest& request);
PassedRequest passed_request(const json::object& head, std::string content);

/// The same for a response. Of its content type, only its presence is kept.
json::object head_of(const Response& response);
Response passed_response(const json::object& head, std::string body);

}  // namespace agw

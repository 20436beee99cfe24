#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/response.hpp"
#include "base/json/json.hpp"

namespace agw {

/// A client's request that another node answers, as the node has checked it that the client called.
struct PassedRequest {
  std::string method;
  std::string path;  ///< as sent
  std::vector<std::string> segments;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<std::pair<std::string, std::string>> headers;  ///< without the client's token
  std::string host;
  std::string content;
};

/// Everything but the content, and back. What others than nodes could send is never read: messages are sealed.
json::object head_of(const PassedRequest& request);
PassedRequest passed_request(const json::object& head, std::string content);

/// The same of the response; of its content type, only whether it has one.
json::object head_of(const Response& response);
Response passed_response(const json::object& head, std::string body);

}  // namespace agw

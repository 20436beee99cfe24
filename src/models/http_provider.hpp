#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "io/http/http_client.hpp"
#include "io/process/blocking.hpp"
#include "models/model.hpp"
#include "models/settings.hpp"
#include "models/wire_format.hpp"

namespace agw {

/// A model service over HTTP, in one of the wire formats. The messages of its failures begin with its name.
/// Example: src/models/http_provider_test.cpp: HttpProvider.StreamsAnAnswer
class HttpProvider : public Provider {
public:
  /// `http` and `blocking` must outlive it.
  HttpProvider(HttpClient& http, BlockingPool& blocking, ProviderSettings settings,
               std::chrono::milliseconds idle_timeout);
  ~HttpProvider() override;

  Task<ModelOutcome> answer(const ModelRequest& request, const OnDelta& on_delta, StopSource& stop) override;
  Task<std::variant<json::object, ModelFailure>> embed(json::object body, StopSource& stop) override;
  const CallFeature* unsupported(const ModelRequest& request) const override;

private:
  class PendingResponse;

  struct Body {
    std::string text;             ///< JSON
    bool has_last_change = true;  ///< whether it could be adjusted to the last error
    bool fits_value = false;      ///< whether this only changed the limit of output tokens, or the level of reasoning
  };

  /// Answers a request whose names of tools the service accepts. What it refuses is adjusted and sent again.
  Task<ModelOutcome> answer_adjusted(const ModelRequest& request, const OnDelta& on_delta, StopSource& stop);
  /// Writes the body of a request, adjusted to `errors`. A large one is written on another thread.
  Task<Body> write_body(const ModelRequest& request, const std::vector<ProviderError>& errors) const;
  HttpRequest http_request(const std::string& url, std::string body) const;
  /// Sends one request. If the provider responds with an error, stores it in `provider_error`.
  Task<ModelOutcome> ask(const std::string& model, std::string body, const OnDelta& on_delta, StopSource& stop,
                         ProviderError& provider_error);
  void remember(const std::string& model, const std::vector<ProviderError>& errors);
  ModelFailure with_provider_name(ModelFailure failure) const;

  HttpClient& http_;
  BlockingPool& blocking_;
  ProviderSettings settings_;
  std::chrono::milliseconds silence_limit_;
  std::unique_ptr<WireFormat> format_;
  /// By model: errors that an adjusted request avoided. Later requests are adjusted before they are sent. Programs
  /// choose the names, so only some are kept.
  std::map<std::string, std::vector<ProviderError>> known_errors_;
  /// Models whose last answer began with thoughts without a tag before them.
  std::set<std::string> thinking_without_tag_;
};

}  // namespace agw

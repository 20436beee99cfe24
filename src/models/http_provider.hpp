#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/http_client.hpp"
#include "models/model.hpp"
#include "models/settings.hpp"
#include "models/wire.hpp"

namespace agw {

/// A model service over HTTP, in one of the wire formats. Messages of its failures begin with its name.
class HttpProvider : public Provider {
public:
  /// `http` must outlive it.
  HttpProvider(HttpClient& http, ProviderSettings settings, std::chrono::milliseconds silence_limit);
  ~HttpProvider() override;

  Task<ModelOutcome> answer(const ModelRequest& request, const OnDelta& on_delta, Stop& stop) override;

private:
  class Exchange;

  HttpRequest http_request(const json::value& body) const;
  /// One try. `complaint` is filled in where the provider answered with an error.
  Task<ModelOutcome> ask(const json::value& body, const OnDelta& on_delta, Stop& stop, Complaint& complaint);
  ModelFailure in_my_name(ModelFailure failure) const;

  HttpClient& http_;
  ProviderSettings settings_;
  std::chrono::milliseconds silence_limit_;
  std::unique_ptr<WireFormat> wire_;
  /// What each model has complained of before it answered, so that the next request does without from the start.
  std::map<std::string, std::vector<Complaint>> complaints_;
};

}  // namespace agw

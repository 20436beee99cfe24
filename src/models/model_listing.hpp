#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "io/http/http_client.hpp"
#include "io/process/blocking.hpp"
#include "models/model_entry.hpp"
#include "models/settings.hpp"

namespace agw {

/// More models of one service are left out.
/// Example: src/models/model_listing_test.cpp: ModelListing.ReadsTheFormsOfOtherServices
inline constexpr std::size_t max_listed_models = 50'000;

/// The answer of a service to the question for its models.
struct Listing {
  std::vector<ModelEntry> models{};
  std::string error{};  ///< what is wrong and what to do, for people; empty if the service has answered
};

/// Asks the service, whose key and headers are filled in, for its models. Follows no redirect, reads 32 MiB at most,
/// and waits no longer than `limit`. Never throws for what the service does.
Task<Listing> list_models(HttpClient& http, BlockingPool& blocking, ProviderSettings settings, StopSource& stop,
                          std::chrono::milliseconds limit = std::chrono::seconds(10));

/// The address of a page of the service's list; `page` is empty for the first.
std::string list_url(const ProviderSettings& settings, const std::string& page = {});

/// One page of a service's list.
struct ListingPage {
  bool is_list = false;  ///< false: the text is no list of models
  std::vector<ModelEntry> models{};
  std::string next{};  ///< what asks for the next page; empty if there is none
};
/// Reads a page in any of the forms that services send. Blocks: not for the loop.
ListingPage read_listing(ProviderKind kind, std::string_view body);

}  // namespace agw

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

/// The limit per service; further models are left out.
/// Example: src/models/model_listing_test.cpp: ModelListing.ReadsTheFormsOfOtherServices
inline constexpr std::size_t max_listed_models = 50'000;

/// The models of a service, or why they could not be listed.
struct Listing {
  std::vector<ModelEntry> models{};
  std::string owner{};  ///< of the first model (`owned_by`); empty if the list does not say
  std::string error{};  ///< what is wrong and what to do, for people; empty on success
};

/// Requests the list of models from the service, whose key and headers are filled in. Follows no redirect, reads at
/// most 32 MiB, and takes no longer than `limit`. Never throws because of the service's response.
Task<Listing> list_models(HttpClient& http, BlockingPool& blocking, ProviderSettings settings, StopSource& stop,
                          std::chrono::milliseconds limit = std::chrono::seconds(10));

/// The address of a page of the service's list; `page` is empty for the first.
std::string list_url(const ProviderSettings& settings, const std::string& page = {});

/// One page of a service's list.
struct ListingPage {
  bool is_list = false;  ///< false: the text is not a list of models
  std::vector<ModelEntry> models{};
  std::string owner{};  ///< of the first model; empty if the list does not say
  std::string next{};   ///< the token of the next page; empty on the last page
};
/// Reads a page in any of the formats of services. Blocks: not for the loop.
ListingPage read_listing(ProviderKind kind, std::string_view body);

}  // namespace agw

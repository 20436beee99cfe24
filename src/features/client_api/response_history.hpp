#pragma once

#include <optional>
#include <string>

#include "features/client_api/responses.hpp"
#include "features/client_api/service.hpp"
#include "features/client_api/store.hpp"

namespace agw {

using client_store::StoredResponse;

/// No value if no response that was stored has the id.
Task<std::optional<StoredResponse>> find_response(ClientApi& api, std::string id);

/// 400 for a `previous_response_id` that nothing has.
ApiError previous_response_not_found(const std::string& id);

/// Puts what it continues and its own input into the request. Returns all items of the conversation. Throws ApiError
/// 400 for an item that is wrong.
json::array continue_response(ResponseRequest& read, const std::optional<StoredResponse>& previous);

/// What later requests need to continue the response: the thread of an agent, or the `conversation` with the output.
StoredResponse stored_response(const ClientApi& api, const ClientAnswer& answer, const json::object& response,
                               json::array conversation);

/// Also deletes some that are older than 30 days.
Task<> store_response(ClientApi& api, StoredResponse response);

}  // namespace agw

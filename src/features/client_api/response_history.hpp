#pragma once

#include <optional>
#include <string>

#include "features/client_api/responses.hpp"
#include "features/client_api/service.hpp"
#include "features/client_api/store.hpp"

namespace agw {

using client_store::StoredResponse;

/// The query of `GET /v1/responses/:id`.
struct StoredResponseQuery {
  bool stream = false;
};
const Description& describe(Tag<StoredResponseQuery>);

/// No value if no stored response has the id.
Task<std::optional<StoredResponse>> find_response(ClientApi& api, std::string id);

/// The error 400 for an unknown `previous_response_id`.
ApiError previous_response_not_found(const std::string& id);

/// Replaces each `item_reference` of the input by the item that it names, from a stored response. Throws ApiError 400
/// if no stored response has the item.
Task<> resolve_references(ClientApi& api, json::array& input);

/// Throws ApiError 400 if the conversation is longer than a request may be, because each response parses and copies it.
void check_length(const ClientApi& api, const std::optional<StoredResponse>& previous);

/// Adds the previous conversation and the new input to the request. Returns all items of the conversation. Throws
/// ApiError 400 for an invalid item.
json::array continue_response(ResponseRequest& read, const std::optional<StoredResponse>& previous);

/// The row from which later requests continue the response. Contains the agent's thread, or else the `conversation`
/// with the output.
StoredResponse stored_response(const ClientApi& api, const ClientAnswer& answer, const json::object& response,
                               json::array conversation);

/// Stores the response, and deletes some that are older than 30 days.
Task<> store_response(ClientApi& api, StoredResponse response);

}  // namespace agw

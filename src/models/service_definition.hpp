#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json/described.hpp"
#include "models/model_entry.hpp"
#include "models/settings.hpp"

namespace agw {

/// Whether the definition of an integration describes a model service: its `kind` is `model`.
bool is_model_service(const json::object& definition);

/// Returns the problems of a model service's definition that its schema does not find; paths begin with `definition`.
/// The definition contains no key: `api_key` and headers refer to secrets.
Problems validate_model_service(const json::object& definition);

/// The settings of the definition. References to secrets stay in the texts: they are resolved for each call.
ProviderSettings model_service_settings(std::string name, const json::object& definition);

/// The models in the member `models` of a definition, or of a list that has the same form.
std::vector<ModelEntry> model_entries_in(const json::object& definition);

/// Returns NAME if `text` is exactly `${secret:NAME}`, else an empty string.
std::string_view secret_named_by(std::string_view text);

/// Returns the problem of a model service's address, as the end of a sentence that begins with its name; empty if it is
/// valid. The address must be http or https without credentials and must not belong to a cloud's metadata service. It
/// may have a query and `{model}`.
/// Example: src/models/model_listing_test.cpp: ServiceAddress.IsOfTheWebAndHoldsNoCredentials
std::string address_problem(std::string_view base_url);

/// Whether the name of a header or query parameter suggests that its value is a key.
bool names_key(std::string_view name);

/// Returns the problem of a key, as the end of a sentence that begins with its name; empty if it is valid. A key must
/// be valid as the value of a header.
std::string key_problem(std::string_view key);

}  // namespace agw

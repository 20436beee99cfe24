#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json/described.hpp"
#include "models/model_entry.hpp"
#include "models/settings.hpp"

namespace agw {

/// Whether the definition of an integration is that of a model service: its `kind` is `model`.
bool is_model_service(const json::object& definition);

/// What is wrong with the definition of a model service, in addition to what its schema says; paths begin with
/// `definition`. It holds no key: `api_key` and headers name secrets.
Problems validate_model_service(const json::object& definition);

/// The contents of the definition, with texts unchanged: secrets are filled in for each call.
ProviderSettings model_service_settings(std::string name, const json::object& definition);

/// The models in the member `models` of a definition, or of a list that has the same form.
std::vector<ModelEntry> model_entries_in(const json::object& definition);

/// The name in `${secret:NAME}` if that is all of the text; empty if it is not.
std::string_view secret_named_by(std::string_view text);

/// What is wrong with the address of a model service, as the end of a sentence that begins with its name; empty if
/// nothing is. It is http or https without credentials, may have a query and `{model}`, and is no metadata service of a
/// cloud.
/// Example: src/models/model_listing_test.cpp: ServiceAddress.IsOfTheWebAndHoldsNoCredentials
std::string address_problem(std::string_view base_url);

/// Whether the name of a header or of a query's parameter says that its value is a key.
bool names_key(std::string_view name);

/// What is wrong with a key, as the end of a sentence that begins with its name; empty if nothing is. A key becomes the
/// value of a header.
std::string key_problem(std::string_view key);

}  // namespace agw

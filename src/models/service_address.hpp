#pragma once

#include <string>
#include <string_view>

namespace agw {

/// What is wrong with the address of a model service, as the end of a sentence that begins with its name; empty if
/// nothing is. It is http or https without credentials, may have a query and `{model}`, and is no metadata service of a
/// cloud.
std::string address_problem(std::string_view base_url);

/// Whether the name of a header or of a query's parameter says that its value is a key.
bool names_key(std::string_view name);

/// What is wrong with a key, as the end of a sentence that begins with what it is called; empty if nothing is. A key
/// becomes the value of a header.
std::string key_problem(std::string_view key);

}  // namespace agw

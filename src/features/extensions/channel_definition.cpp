// What is wrong with the definition of a channel, in addition to what its schema says.

#include "base/json/json_values.hpp"
#include "features/extensions/validation.hpp"
#include "models/service_address.hpp"
#include "models/service_definition.hpp"

namespace agw {

bool is_channel(const json::object& definition) { return string_member(definition, "kind") == "channel"; }

Problems validate_channel(const json::object& definition) {
  Problems problems;
  const auto given = [&](std::string_view name) { return string_member(definition, name); };
  const auto require = [&](const std::string& name) {
    if (!given(name) || given(name)->empty())
      problems.push_back({"definition." + name, "definition." + name + " is required"});
  };
  require("service");
  require("token");
  if (given("service") == "matrix") require("address");
  if (const auto address = given("address")) {
    if (const auto problem = address_problem(*address); !problem.empty())
      problems.push_back({"definition.address", "definition.address " + problem});
  }
  if (const auto token = given("token"); token && !token->empty() && secret_named_by(*token).empty()) {
    problems.push_back({"definition.token",
                        "keep the token as a secret: store it with PUT /secrets/NAME, and write ${secret:NAME} in its "
                        "place"});
  }
  return problems;
}

}  // namespace agw

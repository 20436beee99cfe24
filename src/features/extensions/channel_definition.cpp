// Validates the rules for channel definitions that their JSON Schema cannot express.

#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "base/json/json_values.hpp"
#include "features/extensions/validation.hpp"
#include "io/xmpp/xmpp_address.hpp"
#include "models/service_definition.hpp"

namespace agw {

namespace {

/// The problem with the address of a mail server, as the end of a sentence; empty if it is valid.
std::string mail_server_problem(std::string_view address, std::string_view scheme) {
  const auto wanted =
      fmt::format("must be an address such as {0}s://{0}.example.org, or {0}://… with STARTTLS", scheme);
  const auto url = boost::urls::parse_uri(address);
  if (!url) return wanted;
  if (url->has_userinfo()) return "must not hold a user name or password: they are `user` and `token`";
  const bool is_right = (url->scheme() == scheme || url->scheme() == fmt::format("{}s", scheme)) &&
                        !url->encoded_host().empty() && url->encoded_path().size() <= 1 && !url->has_query() &&
                        !url->has_fragment();
  return is_right ? std::string() : wanted;
}

void check_mail_server(const json::object& definition, const std::string& name, std::string_view scheme,
                       Problems& problems) {
  const auto address = string_member(definition, name);
  if (!address || address->empty()) return;
  if (const auto problem = mail_server_problem(*address, scheme); !problem.empty())
    problems.push_back({"definition." + name, fmt::format("definition.{} {}", name, problem)});
}

void check_mail(const json::object& definition, Problems& problems) {
  check_mail_server(definition, "address", "imap", problems);
  check_mail_server(definition, "smtp", "smtp", problems);
  const auto user = string_or_empty(definition, "user");
  const auto from = string_or_empty(definition, "from");
  const auto& own = from.empty() ? user : from;
  const auto at = own.find('@');
  const bool is_address =
      at != own.npos && at > 0 && at + 1 < own.size() && own.find_first_of(" <>\r\n\",;") == own.npos;
  if (!is_address && !user.empty()) {
    problems.push_back(
        {"definition.from", "definition.from must be the account's mail address, such as agent@example.org"});
  }
}

void check_xmpp(const json::object& definition, Problems& problems) {
  const auto check = [&](const std::string& name, std::string_view value) {
    if (!value.empty() && !xmpp_account(value))
      problems.push_back({"definition." + name, "definition." + name + " must be an address such as name@example.org"});
  };
  const auto address = string_or_empty(definition, "address");
  if (!address.empty() && !parse_xmpp_server(address))
    problems.push_back({"definition.address",
                        "definition.address must be xmpp://host:port, or xmpps://host:port for TLS "
                        "from the first byte"});
  check("user", string_or_empty(definition, "user"));
  const auto rooms = strings_of(definition, "rooms");
  for (std::size_t i = 0; i < rooms.size(); ++i) check("rooms[" + std::to_string(i) + "]", rooms[i]);
}

}  // namespace

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
  const bool is_mail = given("service") == "email";
  const bool is_xmpp = given("service") == "xmpp";
  if (given("service") == "matrix" || is_mail) require("address");
  if (is_mail) {
    for (const auto* name : {"smtp", "user", "authserv_id"}) require(name);
    check_mail(definition, problems);
  } else if (is_xmpp) {
    require("user");
    check_xmpp(definition, problems);
  } else if (const auto address = given("address")) {
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

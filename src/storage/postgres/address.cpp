#include "storage/postgres/address.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <ranges>
#include <string_view>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/error.hpp"
#include "storage/postgres/libpq.hpp"

namespace agw::postgres {

namespace {

constexpr std::string_view socket_directory = "/var/run/postgresql";

using Parameters = std::vector<std::pair<std::string, std::string>>;

[[noreturn]] void refuse(std::string_view why) {
  throw StartError(ExitStatus::usage, fmt::format("cluster.database: {}", why));
}

Parameters parse(const std::string& url) {
  const auto& pq = Libpq::get();
  if (!pq.error.empty()) throw StartError(ExitStatus::failure, fmt::format("cluster.database: {}", pq.error));
  char* problem = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(pq.conninfo_free)> options(pq.conninfo_parse(url.c_str(), &problem),
                                                                              pq.conninfo_free);
  // The message is dropped, because it may quote a password.
  pq.freemem(problem);
  if (!options) {
    refuse("must be like postgresql://user@host:5432/database, special characters of a user or password as %40");
  }
  Parameters parameters;
  for (const auto* option = options.get(); option->keyword; ++option) {
    if (option->val && *option->val) parameters.emplace_back(option->keyword, option->val);
  }
  return parameters;
}

std::string value_of(const Parameters& parameters, std::string_view name, std::string_view otherwise = "") {
  const auto found = std::ranges::find(parameters, name, &Parameters::value_type::first);
  return found == parameters.end() ? std::string(otherwise) : found->second;
}

void set(Parameters& parameters, std::string_view name, std::string_view value) {
  const auto found = std::ranges::find(parameters, name, &Parameters::value_type::first);
  if (found == parameters.end()) {
    parameters.emplace_back(name, value);
  } else {
    found->second = value;
  }
}

/// Whether the host is a directory of a Unix socket, or loopback.
bool is_on_this_host(std::string_view host) {
  return host.empty() || host.starts_with('/') || host.starts_with('@') || host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos);
}

bool are_on_this_host(const std::string& hosts) {
  return std::ranges::all_of(hosts | std::views::split(','),
                             [](auto host) { return is_on_this_host(std::string_view(host.begin(), host.end())); });
}

void require_encryption(Parameters& parameters) {
  const auto address = value_of(parameters, "hostaddr");
  if (are_on_this_host(address.empty() ? value_of(parameters, "host") : address)) return;
  constexpr std::array<std::string_view, 3> encrypted{"require", "verify-ca", "verify-full"};
  const auto mode = value_of(parameters, "sslmode", "verify-full");
  if (!contains(encrypted, mode))
    refuse(fmt::format(
        "sslmode={} may reach a server on another host unencrypted: use verify-full, verify-ca or require", mode));
  set(parameters, "sslmode", mode);
}

std::string name_of(const Parameters& parameters) {
  const auto host = value_of(parameters, "host", value_of(parameters, "hostaddr"));
  const auto database = value_of(parameters, "dbname", value_of(parameters, "user", "of your name"));
  return fmt::format("database {} at {}:{}", database, host, value_of(parameters, "port", "5432"));
}

}  // namespace

Address read_address(const std::string& url) {
  auto parameters = parse(url);
  if (value_of(parameters, "host").find('@') != std::string::npos) {
    refuse("has two @: write the one in the user or the password as %40");
  }
  // Overrides PGHOST, which is an unexpected place to look for the cause of a connection to another host.
  if (value_of(parameters, "host", value_of(parameters, "hostaddr")).empty()) set(parameters, "host", socket_directory);
  require_encryption(parameters);
  Address address{.name = name_of(parameters)};
  set(parameters, "client_encoding", "UTF8");
  set(parameters, "gssencmode", "disable");
  set(parameters, "application_name", value_of(parameters, "application_name", "agw"));
  // A server that stops responding counts as lost after about ten seconds.
  set(parameters, "tcp_user_timeout", value_of(parameters, "tcp_user_timeout", "10000"));
  set(parameters, "keepalives_idle", value_of(parameters, "keepalives_idle", "10"));
  set(parameters, "keepalives_interval", value_of(parameters, "keepalives_interval", "3"));
  set(parameters, "keepalives_count", value_of(parameters, "keepalives_count", "3"));
  address.parameters = std::move(parameters);
  return address;
}

}  // namespace agw::postgres

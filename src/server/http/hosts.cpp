#include "server/http/hosts.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/asio/ip/address.hpp>

#include "base/containers.hpp"
#include "config/addresses.hpp"
#include "config/settings.hpp"
#include "io/http/public_address.hpp"
#include "io/http/web_url.hpp"

namespace agw {

namespace {

bool is_address(const std::string& name) {
  boost::system::error_code error;
  boost::asio::ip::make_address(name, error);
  return !error;
}

/// Whether the list has the text, which may be in other letters, such as `Example.com`.
bool contains_in_any_case(const std::vector<std::string>& list, std::string_view wanted) {
  return std::any_of(list.begin(), list.end(), [&](const auto& entry) { return boost::iequals(entry, wanted); });
}

}  // namespace

std::string host_name(std::string_view host) {
  auto end = host.starts_with('[') ? host.find(']') : std::min(host.find(':'), host.size());
  if (end == host.npos) return {};
  const auto name = without_root(host.starts_with('[') ? host.substr(1, end++ - 1) : host.substr(0, end));
  auto port = host.substr(end);
  if (port.starts_with(':'))
    port.remove_prefix(1);
  else if (!port.empty())
    return {};
  if (port.size() > 5 || port.find_first_not_of("0123456789") != port.npos) return {};
  return boost::to_lower_copy(std::string(name));
}

Hosts::Hosts(Options options) : options_(std::move(options)), loopback_(is_loopback(host_name(options_.bound_host))) {
  // An IPv6 address without brackets contains colons that do not start a port.
  if (is_address(options_.bound_host)) loopback_ = is_loopback(options_.bound_host);
  if (const auto url = WebUrl::parse(options_.public_url)) public_origin_ = url->origin();
  for (auto& name : options_.hosts) name = without_root(name);  // as host_name() returns them
  if (!loopback_) return;
  std::set<std::string> names{"127.0.0.1", "localhost", "localhost.", "[::1]"};
  const bool is_v6 = options_.bound_host.find(':') != std::string::npos;
  names.insert(is_v6 ? "[" + options_.bound_host + "]" : options_.bound_host);
  for (const auto& name : names) own_.push_back(name + ":" + std::to_string(options_.port));
  own_origins_ = own_;
  // A scheme's default port is omitted.
  if (options_.port == (options_.tls ? 443 : 80)) own_origins_.insert(own_origins_.end(), names.begin(), names.end());
}

bool Hosts::allows_host(std::string_view host) const {
  if (contains(own_, host)) return true;
  const auto name = host_name(host);
  if (contains_in_any_case(options_.hosts, name) || contains_in_any_case(options_.hosts, host)) return true;
  return loopback_ ? is_loopback(name) : is_address(name);
}

bool Hosts::allows_origin(std::string_view origin, std::string_view host) const {
  if (contains_in_any_case(options_.origins, origin)) return true;
  if (!boost::istarts_with(origin, scheme())) return false;
  const auto authority = origin.substr(scheme().size());
  if (loopback_) {
    if (contains_in_any_case(own_origins_, authority)) return true;
    return contains_in_any_case(options_.hosts, host_name(host)) && boost::iequals(authority, host);
  }
  return boost::iequals(authority, host);
}

std::string_view Hosts::scheme_of(std::string_view host) const {
  using Own = std::pair<std::string_view, std::string_view>;
  for (const auto& [scheme, port] : {Own{"https://", ":443"}, Own{"http://", ":80"}}) {
    if (!public_origin_.starts_with(scheme)) continue;
    // Origins omit the default port of their scheme; a Host field may include it.
    if (host.ends_with(port)) host.remove_suffix(port.size());
    if (boost::iequals(std::string_view(public_origin_).substr(scheme.size()), host)) return scheme;
  }
  return this->scheme();
}

bool Hosts::same_origin(std::string_view origin, std::string_view host) const {
  return origin == std::string(scheme()) + std::string(host);
}

Hosts::Options hosts_options(const Settings& settings, int port) {
  auto hosts = settings.hosts;
  if (const auto url = WebUrl::parse(settings.cluster.address)) hosts.push_back(url->host());
  return {.bound_host = settings.host,
          .port = port,
          .tls = !settings.tls.cert.empty(),
          .hosts = std::move(hosts),
          .origins = settings.origins,
          .public_url = settings.public_url};
}

}  // namespace agw

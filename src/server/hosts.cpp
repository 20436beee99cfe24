#include "server/hosts.hpp"

#include <algorithm>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/asio/ip/address.hpp>

namespace agw {

namespace {

bool is_address(const std::string& name) {
  boost::system::error_code error;
  boost::asio::ip::make_address(name, error);
  return !error;
}

bool is_loopback(const std::string& name) {
  if (name == "localhost") return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(name, error);
  return !error && address.is_loopback();
}

bool contains(const std::vector<std::string>& list, std::string_view wanted) {
  return std::any_of(list.begin(), list.end(), [&](const auto& entry) { return boost::iequals(entry, wanted); });
}

}  // namespace

std::string host_name(std::string_view host) {
  auto end = host.starts_with('[') ? host.find(']') : std::min(host.find(':'), host.size());
  if (end == host.npos) return {};
  const auto name = host.starts_with('[') ? host.substr(1, end++ - 1) : host.substr(0, end);
  auto port = host.substr(end);
  if (port.starts_with(':'))
    port.remove_prefix(1);
  else if (!port.empty())
    return {};
  if (port.size() > 5 || port.find_first_not_of("0123456789") != port.npos) return {};
  return boost::to_lower_copy(std::string(name));
}

Hosts::Hosts(Options options) : options_(std::move(options)), loopback_(is_loopback(host_name(options_.bound_host))) {
  // A bare IPv6 address has no brackets to tell its colons from a port's.
  if (is_address(options_.bound_host)) loopback_ = is_loopback(options_.bound_host);
  if (!loopback_) return;
  for (const std::string name : {"127.0.0.1", "localhost", "[::1]"}) {
    own_.push_back(name + ":" + std::to_string(options_.port));
  }
}

bool Hosts::allows_host(std::string_view host) const {
  if (std::ranges::find(own_, host) != own_.end()) return true;
  const auto name = host_name(host);
  if (contains(options_.hosts, name) || contains(options_.hosts, host)) return true;
  return loopback_ ? is_loopback(name) : is_address(name);
}

bool Hosts::allows_origin(std::string_view origin, std::string_view host) const {
  if (contains(options_.origins, origin)) return true;
  if (!boost::istarts_with(origin, scheme())) return false;
  const auto authority = origin.substr(scheme().size());
  if (loopback_) {
    if (contains(own_, authority)) return true;
    return contains(options_.hosts, host_name(host)) && boost::iequals(authority, host);
  }
  return boost::iequals(authority, host);
}

bool Hosts::same_origin(std::string_view origin, std::string_view host) const {
  return origin == std::string(scheme()) + std::string(host);
}

}  // namespace agw

#include "io/nats/nats_address.hpp"

#include <optional>
#include <ranges>
#include <string_view>

#include <fmt/format.h>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "base/error.hpp"

namespace agw {

namespace {

constexpr std::string_view usual_port = "4222";

bool names_loopback(std::string_view host) {
  return host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos);
}

[[noreturn]] void refuse_address(const std::string& key, std::string_view why) {
  throw StartError(ExitStatus::usage, fmt::format("{}: {}", key, why));
}

boost::urls::url_view parse_url(std::string_view text, const std::string& key) {
  const auto url = boost::urls::parse_uri(text);
  const bool is_right = url && (url->scheme() == "nats" || url->scheme() == "tls") && !url->encoded_host().empty() &&
                        (url->encoded_path().empty() || url->encoded_path() == "/");
  // The message omits the text, which may contain a password.
  if (!is_right) {
    refuse_address(key,
                   "must be like nats://user:password@host:4222 or tls://…, special characters of a user or password "
                   "as %40");
  }
  return *url;
}

}  // namespace

NatsAddress read_nats_address(const std::string& urls, const std::string& key) {
  NatsAddress address;
  for (const auto part : urls | std::views::split(',')) {
    const auto url = parse_url(std::string_view(part.begin(), part.end()), key);
    const std::string host(url.encoded_host().data(), url.encoded_host().size());
    const bool is_encrypted = url.scheme() == "tls";
    if (!is_encrypted && !names_loopback(host)) {
      refuse_address(key,
                     fmt::format("nats://{} may reach a server on another host unencrypted: use tls://{}", host, host));
    }
    if (!address.servers.empty() && is_encrypted != address.is_encrypted)
      refuse_address(key, "use either nats:// or tls:// for all servers");
    address.is_encrypted = is_encrypted;
    if (url.has_password()) {
      address.user = url.user();
      address.password = url.password();
    } else if (url.has_userinfo()) {
      address.token = url.user();
    }
    const auto place = fmt::format("{}:{}", host, url.has_port() ? std::string(url.port()) : std::string(usual_port));
    address.servers.push_back((is_encrypted ? "tls://" : "nats://") + place);
    address.name += (address.name.empty() ? "" : ", ") + place;
  }
  if (address.servers.empty()) refuse_address(key, "names no server");
  return address;
}

}  // namespace agw

#include "features/apps/forwarding.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/pct_string_view.hpp>
#include <boost/url/url.hpp>

#include "base/containers.hpp"

namespace agw {

namespace {

/// Fields of the connection, not of the request (RFC 9110, 7.6.1).
constexpr std::array<std::string_view, 9> hop_by_hop_fields{
    "connection",        "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade"};

/// Request fields that the gateway sets itself.
constexpr std::array<std::string_view, 9> rewritten_request_fields{"host",
                                                                   "authorization",
                                                                   "content-length",
                                                                   "expect",
                                                                   "sec-websocket-protocol",
                                                                   "x-forwarded-for",
                                                                   "x-forwarded-host",
                                                                   "x-forwarded-proto",
                                                                   "x-forwarded-prefix"};

/// Response fields that affect the whole origin, which is the gateway's, and those that frame the body.
constexpr std::array<std::string_view, 9> dropped_response_fields{"set-cookie",
                                                                  "set-cookie2",
                                                                  "clear-site-data",
                                                                  "strict-transport-security",
                                                                  "alt-svc",
                                                                  "service-worker-allowed",
                                                                  "content-length",
                                                                  "date",
                                                                  "x-content-type-options"};

std::vector<std::string> list_entries(std::string_view field) {
  std::vector<std::string> entries;
  while (!field.empty()) {
    const auto end = std::min(field.find(','), field.size());
    auto entry = boost::trim_copy(std::string(field.substr(0, end)));
    if (!entry.empty()) entries.push_back(std::move(entry));
    field.remove_prefix(std::min(end + 1, field.size()));
  }
  return entries;
}

/// The names that `Connection` lists, in lower case.
std::vector<std::string> named_by_connection(const Fields& fields) {
  std::vector<std::string> names;
  for (const auto& [name, value] : fields) {
    if (!boost::iequals(name, "connection")) continue;
    for (auto& entry : list_entries(value)) names.push_back(boost::to_lower_copy(entry));
  }
  return names;
}

bool is_hop_by_hop(const std::string& lower_case_name, const std::vector<std::string>& named) {
  return contains(hop_by_hop_fields, lower_case_name) || contains(named, lower_case_name);
}

std::string decoded(std::string_view text) {
  const auto valid = boost::urls::make_pct_string_view({text.data(), text.size()});
  return valid ? valid->decode() : std::string(text);
}

/// Removes the token from all parts of a request that may contain it.
class Credentials {
public:
  Credentials(const Request& request, const IsToken& is_token) : is_token_(is_token) {
    if (const auto authorization = request.header("authorization")) {
      tokens_.push_back(boost::trim_copy(
          std::string(authorization->substr(std::min(authorization->find(' '), authorization->size())))));
    }
    for (auto& entry : list_entries(request.header("sec-websocket-protocol").value_or(""))) tokens_.push_back(entry);
    for (const auto& [name, value] : request.parameters) tokens_.push_back(value);
    std::erase_if(tokens_, [&](const std::string& text) { return !is_token(text); });
  }

  bool appear_in(std::string_view text) const {
    return std::ranges::any_of(tokens_, [&](const auto& token) { return text.find(token) != text.npos; });
  }

  /// The query without the parameters that contain the token.
  std::string strip_query(std::string_view query) const {
    std::string rest;
    while (!query.empty()) {
      const auto end = std::min(query.find('&'), query.size());
      const auto parameter = query.substr(0, end);
      query.remove_prefix(std::min(end + 1, query.size()));
      if (appear_in(decoded(parameter))) continue;
      if (!rest.empty()) rest += '&';
      rest += parameter;
    }
    return rest;
  }

  /// The subprotocols without `bearer` and the token after it.
  std::string strip_protocols(std::string_view field) const {
    std::string rest;
    for (const auto& entry : list_entries(field)) {
      if (boost::iequals(entry, "bearer") || is_token_(entry)) continue;
      if (!rest.empty()) rest += ", ";
      rest += entry;
    }
    return rest;
  }

private:
  const IsToken& is_token_;
  std::vector<std::string> tokens_;
};

std::string target_for_app(std::string_view target, std::string_view prefix, const Credentials& credentials) {
  const auto question = std::min(target.find('?'), target.size());
  std::string path(target.substr(std::min(prefix.size(), question), question - std::min(prefix.size(), question)));
  if (path.empty()) path = "/";
  const auto query = credentials.strip_query(target.substr(std::min(question + 1, target.size())));
  return query.empty() ? path : path + '?' + query;
}

bool requests_websocket(const Request& request, const ProxyStream& stream) {
  const auto protocols = list_entries(request.header("upgrade").value_or(""));
  return stream.method() == "GET" &&
         std::ranges::any_of(protocols, [](const auto& entry) { return boost::iequals(entry, "websocket"); });
}

void append_field(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

void append_client_fields(std::string& head, const Request& request, const Credentials& credentials, int port) {
  const auto named = named_by_connection(request.headers);
  for (const auto& [name, value] : request.headers) {
    if (is_hop_by_hop(name, named) || contains(rewritten_request_fields, name) || credentials.appear_in(value))
      continue;
    // Requests from the gateway's page must appear to come from the app's own origin; other origins were refused
    // earlier.
    if (name == "origin")
      append_field(head, name, fmt::format("http://127.0.0.1:{}", port));
    else
      append_field(head, name, value);
  }
}

void append_forwarded(std::string& head, const Request& request, std::string_view prefix) {
  const auto scheme = request.scheme.substr(0, request.scheme.find(':'));
  append_field(head, "X-Forwarded-Host", request.header("host").value_or(""));
  append_field(head, "X-Forwarded-Proto", scheme);
  append_field(head, "X-Forwarded-Prefix", prefix);
}

bool is_below(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

constexpr std::string_view any_origin = "http://gateway";

/// Removes the scheme and authority from a Location. Returns the authority without user information.
std::string remove_authority(std::string& location) {
  for (const std::string_view scheme : {"http:", "https:"}) {
    if (boost::istarts_with(location, scheme)) location.erase(0, scheme.size());
  }
  if (!location.starts_with("//")) return "";
  auto authority = location.substr(2, location.find_first_of("/?#", 2) - 2);
  location.erase(0, 2 + authority.size());
  if (location.empty()) location = "/";
  return authority.substr(authority.rfind('@') + 1);
}

bool has_other_scheme(std::string_view location) {
  const auto end = location.find_first_of(":/?#");
  return end != location.npos && location[end] == ':' && !boost::iequals(location.substr(0, end), "http") &&
         !boost::iequals(location.substr(0, end), "https");
}

/// The location, resolved as clients do: some treat a backslash as a slash, or decode `%2e`. Nullopt if it is not one.
std::optional<boost::urls::url> resolved(std::string location, std::string_view target) {
  const auto base_text = fmt::format("{}{}", any_origin, target);
  const auto base = boost::urls::parse_uri(base_text);
  if (location.starts_with('/')) location.insert(0, any_origin);  // so that a second slash begins no authority
  const auto reference = boost::urls::parse_uri_reference(location);
  boost::urls::url url;
  if (!base || !reference || !boost::urls::resolve(*base, *reference, url)) return std::nullopt;
  url.normalize_path();
  return url;
}

/// The Location for the client; nullopt if it has none, because it is not one.
std::optional<std::string> location_for_client(const std::string& given, const ForwardedRequest& request) {
  auto location = boost::trim_copy(boost::replace_all_copy(given, "\\", "/"));
  if (has_other_scheme(location)) return given;
  const auto authority = remove_authority(location);
  const bool is_of_app = authority == fmt::format("127.0.0.1:{}", request.port);
  if (!is_of_app && !authority.empty() && !boost::iequals(authority, request.host)) return given;
  const auto url = resolved(location, request.target);
  if (!url) return std::nullopt;
  if (!is_of_app && is_below(std::string_view(url->encoded_path()), request.prefix)) return given;
  return request.prefix + std::string(std::string_view(url->buffer()).substr(any_origin.size()));
}

}  // namespace

ForwardedRequest forwarded_request(const Request& request, const ProxyStream& stream, std::string_view prefix, int port,
                                   const IsToken& is_token) {
  const Credentials credentials(request, is_token);
  const auto length = stream.body_length();
  const bool has_body = !length || *length > 0;
  ForwardedRequest made{.upgrade = !has_body && requests_websocket(request, stream),
                        .chunked = !length,
                        .host = std::string(request.header("host").value_or("")),
                        .target = std::string(stream.target()),
                        .prefix = std::string(prefix),
                        .port = port};
  auto& head = made.head;
  head = fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", stream.method(),
                     target_for_app(stream.target(), prefix, credentials), port);
  append_client_fields(head, request, credentials, port);
  append_forwarded(head, request, prefix);
  if (!length)
    append_field(head, "Transfer-Encoding", "chunked");
  else if (*length > 0 || request.header("content-length"))
    append_field(head, "Content-Length", std::to_string(*length));
  if (made.upgrade) {
    const auto protocols = request.header("sec-websocket-protocol").value_or("");
    made.offered_bearer = boost::trim_copy(std::string(protocols.substr(0, protocols.find(',')))) == "bearer";
    const auto rest = credentials.strip_protocols(protocols);
    if (!rest.empty()) append_field(head, "Sec-WebSocket-Protocol", rest);
    head += "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  }
  head += "\r\n";
  return made;
}

Fields forwarded_fields(const Fields& from_app, const ForwardedRequest& request) {
  const auto named = named_by_connection(from_app);
  Fields fields;
  bool chose_protocol = false;
  for (const auto& [name, value] : from_app) {
    const auto lower = boost::to_lower_copy(name);
    chose_protocol = chose_protocol || lower == "sec-websocket-protocol";
    if (is_hop_by_hop(lower, named) || contains(dropped_response_fields, lower)) continue;
    if (lower != "location")
      fields.emplace_back(name, value);
    else if (auto location = location_for_client(value, request))
      fields.emplace_back(name, *std::move(location));
  }
  // A browser that offered subprotocols closes the WebSocket if none of them is chosen.
  if (request.offered_bearer && !chose_protocol) fields.emplace_back("Sec-WebSocket-Protocol", "bearer");
  fields.push_back(isolation_field());
  return fields;
}

std::pair<std::string, std::string> isolation_field() {
  return {"Content-Security-Policy", "sandbox allow-scripts allow-forms allow-popups"};
}

}  // namespace agw

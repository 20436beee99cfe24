#include "io/proxy/proxy_request.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <boost/algorithm/string/case_conv.hpp>

#include "base/containers.hpp"
#include "base/text/numbers.hpp"
#include "io/http/public_address.hpp"

namespace agw {

namespace {

constexpr std::uint16_t http_port = 80;

bool is_host_character(char c) {
  return c > ' ' && c < '\x7f' && std::string_view("/\\@?#[]<>\"'`{}|^%").find(c) == std::string_view::npos;
}

/// Fields about the connection to the proxy, and fields that are replaced.
bool is_left_out(std::string_view name) {
  constexpr std::array<std::string_view, 6> names{"connection", "proxy-connection", "proxy-authorization", "keep-alive",
                                                  "host",       "upgrade"};
  return contains(names, boost::algorithm::to_lower_copy(std::string(name)));
}

std::string_view reason_of(unsigned status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Bad Gateway";
  }
}

bool has_control_character(std::string_view line) {
  return std::ranges::any_of(line,
                             [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f'; });
}

std::optional<std::string> forwarded_headers(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const auto end = lines.find("\r\n");
    const auto line = lines.substr(0, end);
    if (line.empty()) return out;
    const auto colon = line.find(':');
    // Others could interpret a folded line, or a name with a space, differently.
    if (end == lines.npos || colon == 0 || colon == line.npos || has_control_character(line)) return std::nullopt;
    const auto name = line.substr(0, colon);
    if (name.find_first_of(" \t") != name.npos) return std::nullopt;
    if (!is_left_out(name)) out.append(line).append("\r\n");
    lines.remove_prefix(end + 2);
  }
  return std::nullopt;
}

}  // namespace

std::string HostPort::text() const {
  return host.find(':') == host.npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

std::optional<HostPort> to_host_port(std::string_view text, std::uint16_t standard) {
  HostPort out{.host = {}, .port = standard};
  std::string_view rest;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == text.npos) return std::nullopt;
    out.host = boost::algorithm::to_lower_copy(std::string(text.substr(1, end - 1)));
    if (out.host.find_first_not_of("0123456789abcdef:.") != out.host.npos) return std::nullopt;
    rest = text.substr(end + 1);
  } else {
    const auto colon = text.find(':');
    out.host = boost::algorithm::to_lower_copy(std::string(text.substr(0, colon)));
    if (!std::ranges::all_of(out.host, is_host_character)) return std::nullopt;
    if (colon != text.npos) rest = text.substr(colon);
  }
  out.host.resize(without_root(out.host).size());
  if (!rest.empty()) {
    const auto port = rest.starts_with(':') ? parse_port(rest.substr(1)) : std::nullopt;
    if (!port) return std::nullopt;
    out.port = *port;
  }
  constexpr std::size_t max_host_length = 253;
  // Rules and resolvers could interpret a name with an empty label differently.
  const bool has_empty_label =
      out.host.starts_with('.') || out.host.ends_with('.') || out.host.find("..") != out.host.npos;
  if (out.host.empty() || has_empty_label || out.host.size() > max_host_length || out.port == 0) return std::nullopt;
  return out;
}

std::optional<ProxyRequest> read_proxy_request(std::string_view head) {
  const auto end = head.find("\r\n");
  if (end == head.npos) return std::nullopt;
  const auto line = head.substr(0, end);
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  // Rejects a tab too, because some servers treat it as a space.
  if (first == line.npos || last == first || has_control_character(line) || line.find('\t') != line.npos)
    return std::nullopt;
  const auto method = line.substr(0, first);
  auto url = line.substr(first + 1, last - first - 1);
  const auto version = line.substr(last + 1);
  const bool is_known = version == "HTTP/1.1" || version == "HTTP/1.0";
  if (!is_known || method.empty() || url.find(' ') != url.npos) return std::nullopt;
  const auto headers = forwarded_headers(head.substr(end + 2));
  if (!headers) return std::nullopt;
  if (method == "CONNECT") {
    const auto target = to_host_port(url, 0);
    return target ? std::optional(ProxyRequest{.target = *target, .is_tunnel = true}) : std::nullopt;
  }
  constexpr std::string_view scheme = "http://";
  if (boost::algorithm::to_lower_copy(std::string(url.substr(0, scheme.size()))) != scheme) return std::nullopt;
  url.remove_prefix(scheme.size());
  const auto path_at = std::min(url.find_first_of("/?"), url.size());
  const auto authority = url.substr(0, path_at);
  const auto path = url.substr(path_at);
  const auto target = to_host_port(authority, http_port);
  if (!target) return std::nullopt;
  auto forwarded = fmt::format("{} {}{} {}\r\nHost: {}\r\n{}Connection: close\r\n\r\n", method,
                               path.starts_with('/') ? "" : "/", path, version, authority, *headers);
  return ProxyRequest{.target = *target, .head = std::move(forwarded)};
}

std::string proxy_response(unsigned status, std::string_view sentence) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: "
      "close\r\n\r\n{}\n",
      status, reason_of(status), sentence.size() + 1, sentence);
}

}  // namespace agw

#include "io/http/head.hpp"

#include <algorithm>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "base/text/numbers.hpp"

namespace agw {

namespace {

Refusal malformed(std::string why) { return {400, "malformed request: " + std::move(why)}; }

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool has_folded_field(std::string_view raw) {
  for (auto end = raw.find("\r\n"); end != raw.npos; end = raw.find("\r\n", end + 2)) {
    const auto next_line = raw.substr(end + 2);
    if (next_line.starts_with(' ') || next_line.starts_with('\t')) return true;
  }
  return false;
}

std::optional<Refusal> check_hosts(const Head& head) {
  const auto count = head.count("host");
  if (count > 1) return malformed("more than one Host");
  if (count == 0 && head.version == 11) return malformed("no Host");
  return std::nullopt;
}

std::optional<Refusal> check_transfer_coding(Head& head) {
  std::vector<std::string> codings;
  for (const auto& [name, value] : head.fields) {
    if (name != "transfer-encoding") continue;
    std::vector<std::string> listed;
    boost::split(listed, value, boost::is_any_of(","));
    for (auto& coding : listed) codings.push_back(boost::to_lower_copy(boost::trim_copy(coding)));
  }
  if (codings.empty()) return std::nullopt;
  if (head.version == 10) return malformed("Transfer-Encoding in HTTP/1.0");
  if (head.field("content-length")) return malformed("Content-Length together with Transfer-Encoding");
  for (const auto& coding : codings) {
    if (coding.empty()) return malformed("an empty transfer coding");
    if (coding != "chunked") return Refusal{501, "unknown transfer coding"};
  }
  if (codings.size() > 1) return malformed("chunked twice");
  head.chunked = true;
  return std::nullopt;
}

std::optional<Refusal> check_length(Head& head) {
  for (const auto& [name, value] : head.fields) {
    if (name != "content-length") continue;
    if (head.content_length) return malformed("more than one Content-Length");
    const auto length = parse_number<std::uint64_t>(value);
    if (!all_digits(value) || !length) return malformed("Content-Length must be a number");
    head.content_length = length;
  }
  return std::nullopt;
}

bool is_absolute_form(std::string_view target) {
  return boost::istarts_with(target, "http://") || boost::istarts_with(target, "https://");
}

bool is_asterisk_form(const Head& head) { return head.target == "*" && head.method == "OPTIONS"; }

std::optional<Refusal> check_target(const Head& head) {
  if (!head.target.starts_with('/') && !is_absolute_form(head.target) && !is_asterisk_form(head)) {
    return malformed("the request target must be a path");
  }
  // Without an early exit, so that it compiles to vector instructions.
  bool plain = true;
  for (const char c : head.target) plain &= c > 0x20 && c < 0x7f && c != '#';
  if (!plain) return malformed("the request target holds a bad character");
  return std::nullopt;
}

}  // namespace

void Head::add(std::string lower_case_name, std::string_view value) {
  if (lower_case_name == "sec-websocket-protocol") {
    const auto first = std::ranges::find_if(fields, [&](const auto& one) { return one.first == lower_case_name; });
    if (first != fields.end()) {
      first->second.append(", ").append(value);
      return;
    }
  }
  fields.emplace_back(std::move(lower_case_name), value);
}

std::optional<std::string_view> Head::field(std::string_view lower_case_name) const {
  for (const auto& [name, value] : fields) {
    if (name == lower_case_name) return value;
  }
  return std::nullopt;
}

std::size_t Head::count(std::string_view lower_case_name) const {
  const auto count =
      std::ranges::count(fields, lower_case_name, [](const auto& field) { return std::string_view(field.first); });
  return static_cast<std::size_t>(count);
}

bool Head::has_token(std::string_view lower_case_field, std::string_view lower_case_token) const {
  for (const auto& [name, value] : fields) {
    if (name != lower_case_field) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const auto end = std::min(rest.find(','), rest.size());
      if (boost::iequals(trimmed(rest.substr(0, end)), lower_case_token)) return true;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return false;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

std::optional<Refusal> check_framing(std::string_view raw, Head& head) {
  if (has_folded_field(raw)) return malformed("a folded field");
  if (auto refusal = check_hosts(head)) return refusal;
  if (auto refusal = check_transfer_coding(head)) return refusal;
  if (auto refusal = check_length(head)) return refusal;
  return check_target(head);
}

Refusal refuse_version(std::string_view raw) {
  const auto line = raw.substr(0, raw.find('\r'));
  const auto space = line.rfind(' ');
  const auto version = space == line.npos ? std::string_view{} : line.substr(space + 1);
  const bool of_http =
      version.size() > 5 && version.starts_with("HTTP/") && version.find_first_not_of("0123456789.", 5) == version.npos;
  const bool supported = version == "HTTP/1.0" || version == "HTTP/1.1";
  if (of_http && !supported) return {505, "HTTP version not supported"};
  return malformed("the request line");
}

}  // namespace agw

#include "features/channels/email/mail_sender.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <boost/algorithm/string/predicate.hpp>

#include "base/text/utf8.hpp"

namespace agw {

namespace {

/// The words of a result: `dkim=pass`, `header.d=example.org`. Blanks around an equals sign are ignored.
std::vector<std::pair<std::string, std::string>> words_of(std::string_view result) {
  std::string text;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const bool is_blank = result[i] == ' ' || result[i] == '\t';
    const auto next = result.find_first_not_of(" \t", i);
    const bool is_by_equals = is_blank && (text.ends_with('=') || (next != result.npos && result[next] == '='));
    if (!is_by_equals) text += is_blank ? ' ' : result[i];
  }
  std::vector<std::pair<std::string, std::string>> words;
  for (const auto word : split_unquoted(text, ' ')) {
    const auto equals = word.find('=');
    if (equals == word.npos) continue;
    words.emplace_back(lower_case(word.substr(0, equals)), lower_case(unquoted(word.substr(equals + 1))));
  }
  return words;
}

std::string_view domain_in(std::string_view address) {
  const auto at = address.rfind('@');
  return at == address.npos ? address : address.substr(at + 1);
}

/// Whether the domain `owner` is authoritative for mails of `domain`.
bool answers_for(std::string_view owner, std::string_view domain) {
  if (owner.empty()) return false;
  const bool is_above = owner.find('.') != owner.npos && domain.size() > owner.size() && domain.ends_with(owner) &&
                        domain[domain.size() - owner.size() - 1] == '.';
  return owner == domain || is_above;
}

/// Whether the property names the domain that the method has checked.
bool names_checked_domain(std::string_view method, std::string_view property) {
  if (method == "dkim") return property == "header.d" || property == "header.i";
  if (method == "spf") return property == "smtp.mailfrom";
  return method == "dmarc" && property == "header.from";
}

bool passes(std::string_view result, std::string_view domain) {
  const auto words = words_of(result);
  if (words.empty() || words.front().second != "pass") return false;
  const auto method = std::string_view(words.front().first).substr(0, words.front().first.find('/'));
  bool is_aligned = false;
  for (const auto& [property, value] : words) {
    if (!names_checked_domain(method, property)) continue;
    // If there are several, all must be of that domain.
    if (!answers_for(domain_in(value), domain)) return false;
    is_aligned = true;
  }
  return is_aligned;
}

}  // namespace

std::optional<MailAddress> authentic_sender(const MailHead& head, std::string_view authserv_id) {
  const auto from = head.all("from");
  if (from.size() != 1) return std::nullopt;
  auto addresses = read_addresses(from.front());
  if (addresses.size() != 1 || addresses.front().address.empty()) return std::nullopt;
  const auto domain = domain_in(addresses.front().address);
  for (const auto field : head.all("authentication-results")) {
    const auto plain = without_comments(field);
    const auto results = split_unquoted(plain, ';');
    const auto id_begin = results.front().find_first_not_of(" \t");
    if (id_begin == std::string_view::npos) continue;
    const auto named = results.front().substr(id_begin);
    // A version may follow the id.
    if (!boost::iequals(unquoted(named.substr(0, named.find_first_of(" \t"))), authserv_id)) continue;
    const bool is_sure = std::any_of(results.begin() + 1, results.end(),
                                     [&](std::string_view result) { return passes(result, domain); });
    return is_sure ? std::optional(std::move(addresses.front())) : std::nullopt;
  }
  return std::nullopt;
}

bool is_automatic(const MailHead& head) {
  const auto submitted = read_field_value(head.first("auto-submitted")).value;
  if (!submitted.empty() && submitted != "no") return true;
  static constexpr std::array<std::string_view, 4> many = {"bulk", "list", "junk", "auto_reply"};
  const auto precedence = read_field_value(head.first("precedence")).value;
  if (std::ranges::find(many, precedence) != many.end()) return true;
  if (!head.first("list-id").empty() || !head.first("list-unsubscribe").empty()) return true;
  // Bounce messages have an empty sender.
  const auto return_path = without_comments(head.first("return-path"));
  if (return_path.find("<>") != return_path.npos) return true;
  const auto addresses = read_addresses(head.first("from"));
  return std::ranges::any_of(addresses, [](const MailAddress& one) {
    return one.address.starts_with("mailer-daemon@") || one.address.starts_with("postmaster@");
  });
}

}  // namespace agw

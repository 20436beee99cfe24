#include "features/channels/email/imap.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <set>
#include <span>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <boost/algorithm/string/predicate.hpp>

#include "base/text/numbers.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

/// Routers drop idle connections early. RFC 2177 allows 29 minutes.
constexpr auto idle_timeout = 9min;
constexpr auto poll_interval = 60s;
constexpr std::size_t max_head = 256 * 1024;
constexpr std::size_t max_literal = 64 * 1024 * 1024;
/// Limits of all responses to one command: bytes and number.
constexpr std::size_t max_response_bytes = max_literal + 1024 * 1024;
constexpr std::size_t max_responses = 100'000;
/// The maximum of uids in one command, because some servers limit lines to 8 KiB.
constexpr std::size_t max_uids = 200;

[[noreturn]] void fail(const std::string& why) { throw MailError(MailError::Kind::broken, why); }

/// Splits uids into lists in the syntax of commands.
std::vector<std::string> in_pieces(std::span<const std::uint32_t> uids) {
  std::vector<std::string> pieces;
  for (; !uids.empty(); uids = uids.subspan(std::min(max_uids, uids.size())))
    pieces.push_back(fmt::format("{}", fmt::join(uids.first(std::min(max_uids, uids.size())), ",")));
  return pieces;
}

/// The number after `name`; 0 if no number follows it.
std::uint32_t number_after(std::string_view text, std::string_view name) {
  const auto found = text.find(name);
  std::uint32_t number = 0;
  if (found == text.npos) return number;
  const auto digits = text.substr(found + name.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// The size of the literal that follows a line: `… {123}`.
std::optional<std::size_t> literal_size(std::string_view line) {
  const auto open = line.rfind('{');
  if (!line.ends_with('}') || open == line.npos) return std::nullopt;
  const auto size = parse_number<std::size_t>(line.substr(open + 1, line.size() - open - 2));
  if (size > max_literal) fail("the server sent more than was requested");
  return size;
}

/// Reads `INTERNALDATE " 7-Feb-2026 21:52:25 +0200"`; whole seconds.
std::optional<Timestamp> received_at(std::string_view text) {
  constexpr std::string_view name = "INTERNALDATE \"";
  const auto found = text.find(name);
  if (found == text.npos) return std::nullopt;
  const std::string time(text.substr(found + name.size(), 26));
  std::tm parts{};
  if (!::strptime(time.c_str(), "%d-%b-%Y %H:%M:%S %z", &parts)) return std::nullopt;
  const auto offset = parts.tm_gmtoff;  // saved, because `timegm` clears it
  return Timestamp(std::chrono::seconds(::timegm(&parts) - offset));
}

/// A short text may be a quoted string instead of a literal.
std::string quoted_in(std::string_view text) {
  const auto begin = text.find("] \"");
  const auto end = text.rfind('"');
  if (begin == text.npos || end < begin + 3) return {};
  return std::string(text.substr(begin + 3, end - begin - 3));
}

}  // namespace

std::string Imap::next_tag() { return fmt::format("g{}", ++commands_); }

Task<> Imap::open(MailServer server, StopSource& stop) {
  co_await connection_.open(std::move(server), stop);
  const auto capabilities = co_await run("CAPABILITY", stop);
  can_idle_ =
      std::ranges::any_of(capabilities, [](const Response& one) { return boost::icontains(one.text, " IDLE"); });
  const auto selected = co_await run("Select INBOX", stop);
  for (const auto& one : selected) {
    if (const auto number = number_after(one.text, "[UIDVALIDITY ")) validity_ = number;
    if (const auto number = number_after(one.text, "[UIDNEXT ")) next_uid_ = number;
  }
  if (validity_ == 0 || next_uid_ == 0) fail("the server does not number its mails");
}

Task<Imap::Response> Imap::read_response(StopSource& stop) {
  Response response{.text = co_await connection_.read_line(stop)};
  response.size = response.text.size();
  for (auto next = literal_size(response.text); next; next = literal_size(response.text)) {
    response.size += *next;
    if (response.size > max_response_bytes) fail("the server sent more than was requested");
    response.literals.push_back(co_await connection_.read_bytes(*next, stop));
    const auto line = co_await connection_.read_line(stop);
    // The blank ensures that `{123}` of this literal does not end the text.
    response.text += ' ' + line;
    response.size += line.size() + 1;
  }
  handle_untagged(response.text);
  co_return response;
}

void Imap::handle_untagged(std::string_view text) {
  if (text.starts_with("* ") && boost::iends_with(text, " EXISTS")) has_new_mail_ = true;
  if (boost::istarts_with(text, "* BYE")) fail(fmt::format("the server ends the connection:{}", text.substr(5)));
}

Task<std::vector<Imap::Response>> Imap::read_until(std::string tag, StopSource& stop) {
  std::vector<Response> before;
  std::size_t bytes = 0;
  for (;;) {
    auto response = co_await read_response(stop);
    if (!response.text.starts_with(tag + ' ')) {
      bytes += response.size;
      if (bytes > max_response_bytes || before.size() == max_responses) fail("the server sent more than was requested");
      before.push_back(std::move(response));
      continue;
    }
    const auto result = std::string_view(response.text).substr(tag.size() + 1);
    if (!boost::istarts_with(result, "OK"))
      throw MailError(MailError::Kind::rejected, fmt::format("the server answered: {}", result));
    co_return before;
  }
}

Task<std::vector<Imap::Response>> Imap::run(std::string command, StopSource& stop) {
  auto tag = next_tag();
  co_await connection_.write(fmt::format("{} {}\r\n", tag, command), stop);
  co_return co_await read_until(std::move(tag), stop);
}

Task<std::vector<Imap::Uid>> Imap::search(std::string criteria, StopSource& stop) {
  has_new_mail_ = false;
  const auto responses = co_await run("UID SEARCH " + criteria, stop);
  std::vector<Uid> uids;
  for (const auto& one : responses) {
    if (!boost::istarts_with(one.text, "* SEARCH")) continue;
    std::string_view rest = std::string_view(one.text).substr(8);
    while (!rest.empty()) {
      Uid uid = 0;
      const auto* const last = rest.data() + rest.size();
      const auto [end, error] = std::from_chars(rest.data(), last, uid);
      if (error == std::errc()) uids.push_back(uid);
      rest.remove_prefix(error == std::errc() ? static_cast<std::size_t>(end - rest.data()) : 1);
    }
  }
  std::ranges::sort(uids);
  co_return uids;
}

Task<std::vector<Imap::Uid>> Imap::mails_from(Uid first, StopSource& stop) {
  auto uids = co_await search(fmt::format("UID {}:* UNDELETED", first), stop);
  // If no mail is in the range, `*` matches the last mail.
  std::erase_if(uids, [first](Uid uid) { return uid < first; });
  co_return uids;
}

Task<std::vector<Imap::Uid>> Imap::unread_mails(Timestamp since, StopSource& stop) {
  // Servers search by day, in their time zone, so the day before is included.
  const auto day = std::chrono::floor<std::chrono::seconds>(since - std::chrono::days(1));
  auto uids = co_await search(
      fmt::format("UNSEEN UNDELETED SINCE {:%d-%b-%Y}", fmt::gmtime(std::chrono::system_clock::to_time_t(day))), stop);
  std::set<Uid> older;
  for (const auto& piece : in_pieces(uids)) {
    const auto times = co_await run(fmt::format("UID FETCH {} (UID INTERNALDATE)", piece), stop);
    for (const auto& one : times) {
      if (const auto time = received_at(one.text); time && *time < since) older.insert(number_after(one.text, "UID "));
    }
  }
  std::erase_if(uids, [&](Uid uid) { return older.contains(uid); });
  co_return uids;
}

Task<std::optional<Imap::Head>> Imap::head(Uid uid, StopSource& stop) {
  auto responses = co_await run(
      fmt::format("UID FETCH {} (UID RFC822.SIZE INTERNALDATE BODY.PEEK[HEADER]<0.{}>)", uid, max_head), stop);
  for (auto& one : responses) {
    if (one.text.find("BODY[HEADER]") == one.text.npos || number_after(one.text, "UID ") != uid) continue;
    auto bytes = one.literals.empty() ? quoted_in(one.text) : std::move(one.literals.front());
    co_return Head{
        .bytes = std::move(bytes), .size = number_after(one.text, "RFC822.SIZE "), .received = received_at(one.text)};
  }
  co_return std::nullopt;
}

Task<std::optional<std::string>> Imap::mail(Uid uid, StopSource& stop) {
  auto responses = co_await run(fmt::format("UID FETCH {} (UID BODY.PEEK[])", uid), stop);
  for (auto& one : responses) {
    if (one.text.find("BODY[]") == one.text.npos || number_after(one.text, "UID ") != uid) continue;
    co_return one.literals.empty() ? quoted_in(one.text) : std::move(one.literals.front());
  }
  co_return std::nullopt;
}

Task<bool> Imap::returns_another(Uid uid, StopSource& stop) {
  const auto uids = co_await search("ALL", stop);
  const auto other = std::ranges::find_if(uids, [uid](Uid one) { return one != uid; });
  if (other == uids.end()) co_return false;
  co_return (co_await head(*other, stop)).has_value();
}

Task<> Imap::mark_read(std::vector<Uid> uids, StopSource& stop) {
  for (const auto& piece : in_pieces(uids))
    co_await run(fmt::format("UID STORE {} +FLAGS.SILENT (\\Seen)", piece), stop);
}

Task<> Imap::wait_for_new_mail(StopSource& stop) {
  while (!has_new_mail_) {
    if (can_idle_) {
      co_await idle(stop);
      continue;
    }
    if (co_await pause(stop, poll_interval) == WaitResult::stopped)
      throw MailError(MailError::Kind::stopped, "stopped");
    co_await run("NOOP", stop);
  }
}

Task<> Imap::idle(StopSource& stop) {
  auto tag = next_tag();
  co_await connection_.write(fmt::format("{} IDLE\r\n", tag), stop);
  for (;;) {
    const auto response = co_await read_response(stop);
    if (response.text.starts_with('+')) break;
    if (response.text.starts_with(tag + ' ')) fail(fmt::format("the server answered: {}", response.text));
  }
  while (!has_new_mail_) {
    const auto line = co_await connection_.read_line_within(idle_timeout, stop);
    if (!line) break;
    handle_untagged(*line);
  }
  co_await connection_.write("DONE\r\n", stop);
  co_await read_until(std::move(tag), stop);
}

}  // namespace agw

// Responses of IMAP and SMTP servers: mails are read, or the connection is reported as broken.

#include <algorithm>
#include <string>
#include <utility>

#include "features/channels/email/imap.cpp"  // with the connection below instead of the real one
#include "features/channels/email/smtp.cpp"
#include "fuzz/support/fuzzing.hpp"
#include "io/http/http_client.hpp"
#include "testing/run.hpp"

namespace agw {

namespace {

std::string_view answers;

[[noreturn]] void end_connection() { throw MailError(MailError::Kind::broken, "the connection was closed"); }

}  // namespace

// Replaces io/mail/mail_connection.cpp, which uses the network.

MailConnection::MailConnection(HttpClient& http) : http_(http) {}
MailConnection::~MailConnection() = default;
void MailConnection::finished(CURLcode) {}
void MailConnection::not_added(std::string) {}
Task<> MailConnection::open(MailServer, StopSource&) { co_return; }
Task<> MailConnection::write(std::string, StopSource&) { co_return; }

Task<std::string> MailConnection::read_line(StopSource&) {
  if (answers.empty()) end_connection();
  auto line = fuzzing::take_line(answers);
  if (line.ends_with('\r')) line.remove_suffix(1);
  co_return std::string(line);
}

Task<std::optional<std::string>> MailConnection::read_line_within(std::chrono::milliseconds, StopSource& stop) {
  co_return co_await read_line(stop);
}

Task<std::string> MailConnection::read_bytes(std::size_t count, StopSource&) {
  if (answers.size() < count) end_connection();
  std::string bytes(answers.substr(0, count));
  answers.remove_prefix(count);
  co_return bytes;
}

namespace {

Task<> use_inbox(HttpClient& http, StopSource& stop) {
  Imap imap(http);
  co_await imap.open({}, stop);
  const auto uids = co_await imap.mails_from(imap.next_uid(), stop);
  fuzzing::require(std::ranges::all_of(uids, [&](Imap::Uid uid) { return uid >= imap.next_uid(); }));
  fuzzing::require(std::ranges::is_sorted(uids));
  co_await imap.unread_mails({}, stop);
  const auto uid = uids.empty() ? 1 : uids.front();
  co_await imap.head(uid, stop);
  co_await imap.mail(uid, stop);
  co_await imap.mark_read(uids, stop);
  stop.request();
  co_await imap.wait_for_new_mail(stop);
}

}  // namespace

}  // namespace agw

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace agw;
  testing::run([&](Loop& loop) -> Task<> {
    HttpClient http(loop);
    StopSource stop;
    answers = fuzzing::text_of(data, size);
    try {
      co_await use_inbox(http, stop);
    } catch (const MailError&) {
    }
    StopSource never;
    answers = fuzzing::text_of(data, size);
    co_await send_mail(http, {}, "me@example.com", "you@example.com", "Subject: x\r\n\r\n.\r\n", never);
  });
  return 0;
}

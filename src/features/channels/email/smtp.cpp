#include "features/channels/email/smtp.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace agw {

namespace {

using End = SendResult::End;

/// A reply of the server, `250 OK`, in one or more lines.
struct Reply {
  char kind = '0';  ///< the first digit of the code: 2 done, 3 continue, 4 try later, 5 refused
  std::string text;
};

Task<Reply> read_reply(MailConnection& connection, StopSource& stop) {
  Reply reply;
  for (int lines = 0; lines < 100; ++lines) {
    const auto line = co_await connection.read_line(stop);
    reply.text += (reply.text.empty() ? "" : " ") + line;
    const bool continues = line.size() > 3 && line[3] == '-';
    if (continues) continue;
    reply.kind = line.empty() ? '0' : line.front();
    co_return reply;
  }
  throw MailError(MailError::Kind::broken, "the server's answer has no end");
}

Task<Reply> command(MailConnection& connection, std::string line, StopSource& stop) {
  co_await connection.write(line + "\r\n", stop);
  co_return co_await read_reply(connection, stop);
}

SendResult problem_of(const Reply& reply) {
  return {.end = reply.kind == '5' ? End::refused : End::retry,
          .error = fmt::format("the server answered: {}", reply.text)};
}

/// Doubles dots at the beginning of lines, because a single dot would end the mail.
std::string with_dots(std::string_view mail) {
  std::string text;
  text.reserve(mail.size() + 64);
  for (bool begins_line = true; const char c : mail) {
    if (begins_line && c == '.') text += '.';
    text += c;
    begins_line = c == '\n';
  }
  if (!text.ends_with("\r\n")) text += "\r\n";
  return text + ".\r\n";
}

/// Sends the commands that precede the mail. Returns the problem; no value if the server is ready to receive the mail.
Task<std::optional<SendResult>> address(MailConnection& connection, std::string from, std::string to,
                                        StopSource& stop) {
  for (auto* line : {&from, &to}) {
    const auto reply =
        co_await command(connection, fmt::format("{}:<{}>", line == &from ? "MAIL FROM" : "RCPT TO", *line), stop);
    if (reply.kind != '2') co_return problem_of(reply);
  }
  const auto reply = co_await command(connection, "DATA", stop);
  if (reply.kind != '3') co_return problem_of(reply);
  co_return std::nullopt;
}

}  // namespace

Task<SendResult> send_mail(HttpClient& http, MailServer server, std::string from, std::string to, std::string mail,
                           StopSource& stop) {
  // The result if the connection breaks before the next step.
  SendResult result{.end = End::retry};
  try {
    MailConnection connection(http);
    co_await connection.open(std::move(server), stop);
    if (auto problem = co_await address(connection, std::move(from), std::move(to), stop))
      co_return *std::move(problem);
    result.end = End::uncertain;
    co_await connection.write(with_dots(mail), stop);
    const auto reply = co_await read_reply(connection, stop);
    if (reply.kind != '2') co_return problem_of(reply);
    result.end = End::sent;
    co_await connection.write("QUIT\r\n", stop);
  } catch (const MailError& error) {
    if (result.end == End::sent) co_return result;
    if (error.kind == MailError::Kind::stopped) result.end = End::stopped;
    result.error = error.what();
  }
  co_return result;
}

}  // namespace agw

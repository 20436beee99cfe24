#include "features/channels/email/imap.hpp"

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/async/task_group.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using asio::ip::tcp;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A server that answers each command, identified by its first word or two, with the given text; `%` is replaced by the
/// tag. Like some real servers, it accepts no line over 8 KiB.
class ImapScript {
public:
  ImapScript(Loop& loop, std::map<std::string, std::string> answers)
      : acceptor_(loop, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        answers_(std::move(answers)),
        group_(loop) {
    group_.spawn(accept());
  }

  MailServer server() const {
    return {.url = fmt::format("imap://127.0.0.1:{}", acceptor_.local_endpoint().port()), .user = "u", .password = "p"};
  }

  Task<> close() {
    group_.cancel();
    acceptor_.close();
    co_await group_.join();
  }

private:
  Task<> accept() {
    for (;;) group_.spawn(serve(co_await acceptor_.async_accept(asio::use_awaitable)));
  }

  std::string answer_to(const std::string& line) const {
    const auto space = line.find(' ');
    const auto tag = line.substr(0, space);
    const auto command = line.substr(space == line.npos ? 0 : space + 1);
    std::string answer = "% OK\r\n";
    for (const auto& [name, text] : answers_) {
      if (command.starts_with(name)) answer = text;
    }
    if (line.size() > 8192) answer = "% BAD too long\r\n";
    for (auto place = answer.find('%'); place != answer.npos; place = answer.find('%')) answer.replace(place, 1, tag);
    return answer;
  }

  Task<> serve(tcp::socket socket) {
    boost::system::error_code gone;
    std::string buffer;
    co_await asio::async_write(socket, asio::buffer(std::string_view("* OK ready\r\n")),
                               asio::redirect_error(asio::use_awaitable, gone));
    while (!gone) {
      std::array<char, 1024> bytes{};
      const auto count =
          co_await socket.async_read_some(asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, gone));
      buffer.append(bytes.data(), count);
      for (auto end = buffer.find("\r\n"); end != buffer.npos && !gone; end = buffer.find("\r\n")) {
        const auto answer = answer_to(buffer.substr(0, end));
        buffer.erase(0, end + 2);
        co_await asio::async_write(socket, asio::buffer(answer), asio::redirect_error(asio::use_awaitable, gone));
      }
    }
  }

  tcp::acceptor acceptor_;
  std::map<std::string, std::string> answers_;
  TaskGroup group_;
};

const std::map<std::string, std::string> usual = {
    {"CAPABILITY", "* CAPABILITY IMAP4rev1 IDLE\r\n% OK\r\n"},
    {"Select", "* 3 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n* OK [UIDNEXT 43] ok\r\n% OK [READ-WRITE] done\r\n"},
};

std::map<std::string, std::string> usual_and(std::map<std::string, std::string> more) {
  more.insert(usual.begin(), usual.end());
  return more;
}

using Body = std::function<Task<>(Imap& imap, StopSource& stop)>;

/// Runs `body` with a selected inbox, and returns the error; empty on success.
std::string with_server(const std::map<std::string, std::string>& answers, const Body& body) {
  std::string problem;
  testing::run([&](Loop& loop) -> Task<> {
    ImapScript server(loop, answers);
    {
      HttpClient http(loop);
      StopSource stop;
      Imap imap(http);
      try {
        co_await imap.open(server.server(), stop);
        co_await body(imap, stop);
      } catch (const MailError& error) {
        problem = error.what();
      }
    }
    co_await server.close();
  });
  return problem;
}

Task<> nothing(Imap&, StopSource&) { co_return; }

TEST(Imap, ReadsNumbersAndMails) {
  const auto problem =
      with_server(usual_and({{"UID SEARCH", "* SEARCH 44 42 43\r\n* 3 FETCH (FLAGS (\\Seen))\r\n% OK\r\n"},
                             {"UID FETCH 43 (UID RFC822",
                              "* 1 FETCH (UID 9 BODY[HEADER]<0> {1}\r\nx)\r\n"
                              "* 2 FETCH (UID 43 RFC822.SIZE 99 BODY[HEADER]<0> {8}\r\nA: {9}\r\n)\r\n% OK\r\n"},
                             {"UID FETCH 43 (UID BODY", "* 2 FETCH (UID 43 BODY[] \"short\")\r\n% OK\r\n"}}),
                  [](Imap& imap, StopSource& stop) -> Task<> {
                    EXPECT_EQ(imap.validity(), 7u);
                    EXPECT_EQ(imap.next_uid(), 43u);
                    EXPECT_THAT(co_await imap.mails_from(43, stop), ElementsAre(43, 44));
                    const auto head = co_await imap.head(43, stop);
                    EXPECT_EQ(head->bytes, "A: {9}\r\n");
                    EXPECT_EQ(head->size, 99u);
                    EXPECT_EQ(co_await imap.mail(43, stop), "short");
                    EXPECT_EQ(co_await imap.mail(44, stop), std::nullopt);
                    co_await imap.mark_read({43, 44}, stop);
                  });
  EXPECT_EQ(problem, "");
}

TEST(Imap, MarksManyMailsAsReadInPieces) {
  const auto problem = with_server(usual, [](Imap& imap, StopSource& stop) -> Task<> {
    std::vector<Imap::Uid> uids(3000);
    std::iota(uids.begin(), uids.end(), 1'000'000);
    co_await imap.mark_read(uids, stop);
    co_await imap.mark_read({}, stop);
  });
  EXPECT_EQ(problem, "");
}

TEST(Imap, AsksForTheTimesOfManyUnreadMailsInPieces) {
  std::string search = "* SEARCH";
  for (int uid = 1'000'000; uid < 1'003'000; ++uid) search += fmt::format(" {}", uid);
  const std::string old = R"(INTERNALDATE " 7-Feb-2006 21:52:25 +0200")";
  const auto problem =
      with_server(usual_and({{"UID SEARCH", search + "\r\n% OK\r\n"},
                             {"UID FETCH 1000000,", "* 1 FETCH (UID 1000001 " + old + ")\r\n% OK\r\n"},
                             {"UID FETCH 1002800,", "* 3000 FETCH (UID 1002999 " + old + ")\r\n% OK\r\n"}}),
                  [](Imap& imap, StopSource& stop) -> Task<> {
                    const auto uids = co_await imap.unread_mails(Timestamp(std::chrono::days(15'000)), stop);
                    EXPECT_EQ(uids.size(), 2998u);
                    EXPECT_THAT(uids, Not(Contains(1'000'001u)));
                    EXPECT_THAT(uids, Not(Contains(1'002'999u)));
                  });
  EXPECT_EQ(problem, "");
}

TEST(Imap, WaitsForNewMailWithIdle) {
  const auto problem = with_server(usual_and({{"UID SEARCH", "* SEARCH\r\n% OK\r\n"},
                                              {"IDLE", "+ idling\r\n* OK still here\r\n* 4 EXISTS\r\n"},
                                              {"DONE", "g4 OK\r\n"}}),
                                   [](Imap& imap, StopSource& stop) -> Task<> {
                                     EXPECT_THAT(co_await imap.mails_from(43, stop), ElementsAre());
                                     co_await imap.wait_for_new_mail(stop);
                                   });
  EXPECT_EQ(problem, "");
}

TEST(Imap, ReportsViolationsOfTheServer) {
  const auto reads = [](Imap& imap, StopSource& stop) -> Task<> { co_await imap.mail(43, stop); };
  EXPECT_THAT(with_server({{"Select", "% NO no such mailbox\r\n"}}, nothing), HasSubstr("NO no such mailbox"));
  EXPECT_EQ(with_server({{"Select", "% OK\r\n"}}, nothing), "the server does not number its mails");
  EXPECT_EQ(with_server(usual_and({{"UID FETCH", "* BYE too busy\r\n"}}), reads),
            "the server ends the connection: too busy");
  EXPECT_EQ(with_server(usual_and({{"UID FETCH", "* 1 FETCH (UID 43 BODY[] {99999999999}\r\n"}}), reads),
            "the server sent more than was requested");
  EXPECT_EQ(
      with_server(usual_and({{"UID FETCH", "* 1 FETCH (UID 43 BODY[] {99999999999999999999999}\r\n% OK\r\n"}}), reads),
      "");
  EXPECT_EQ(with_server(usual_and({{"UID FETCH", std::string(1'100'000, 'x')}}), reads),
            "the server sent a line of over 1 MiB");
  std::string endless;
  for (int i = 0; i < 100'001; ++i) endless += "* 1 FLAGS\r\n";
  EXPECT_EQ(with_server(usual_and({{"UID FETCH", endless}}), reads), "the server sent more than was requested");
}

}  // namespace
}  // namespace agw

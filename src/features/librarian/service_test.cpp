#include "features/librarian/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/run.hpp"

namespace agw {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr auto label = "**Offline librarian:** ";

/// A source with some passages for each kind of match.
class Shelf : public LibrarySource {
public:
  std::string name() const override { return "the shelf"; }
  Task<std::vector<Passage>> find(LibraryQuestion question) override {
    asked.push_back(question);
    co_return question.match == Match::all ? all : any;
  }

  std::vector<Passage> all;
  std::vector<Passage> any;
  std::vector<LibraryQuestion> asked;
};

struct Response {
  std::vector<std::string> deltas;
  std::string text;
  ModelOutcome outcome;
};

class LibrarianTest : public ::testing::Test {
protected:
  LibrarianTest() : librarian_(sources()) {
    request_.agent_id = "agent";
    request_.thread_id = "thread";
  }

  void say(Message::Role role, std::string text) {
    Message message;
    message.role = role;
    message.text = std::move(text);
    request_.messages.push_back(std::move(message));
  }

  /// Answers `question`; requests a stop at the delta with that number.
  Response ask(std::string question, std::size_t stop_at = 0) {
    say(Message::Role::user, std::move(question));
    Response answer;
    testing::run([&](Loop&) -> Task<> {
      StopSource stop;
      const auto on_delta = [&](const Delta& delta) {
        answer.deltas.push_back(delta.text);
        answer.text += delta.text;
        if (answer.deltas.size() == stop_at) stop.request();
      };
      answer.outcome = co_await librarian_.answer(request_, on_delta, stop);
    });
    return answer;
  }

  std::vector<std::unique_ptr<LibrarySource>> sources() {
    auto made = std::make_unique<Shelf>();
    shelf_ = made.get();
    std::vector<std::unique_ptr<LibrarySource>> list;
    list.push_back(std::move(made));
    return list;
  }

  Shelf* shelf_ = nullptr;
  Librarian librarian_;
  ModelRequest request_;
};

TEST_F(LibrarianTest, IntroducesItselfInTheFirstReplyAndSaysHowToConnectAModel) {
  const auto first = ask("Hello").text;
  EXPECT_THAT(first, AllOf(StartsWith(label), HasSubstr("not a language model"), HasSubstr("`ANTHROPIC_API_KEY`"),
                           HasSubstr("`OPENAI_API_KEY`"), HasSubstr("`OLLAMA_HOST`"), HasSubstr("`providers:`")));
  say(Message::Role::assistant, first);
  EXPECT_THAT(ask("Hello again").text, AllOf(StartsWith(label), Not(HasSubstr("API_KEY"))));
}

TEST_F(LibrarianTest, QuotesWhatItFoundWithItsSource) {
  shelf_->all = {{"The lighthouse is green.\nSince 1911.", "you, in “Harbour”", false}};
  EXPECT_THAT(ask("What about the lighthouse?").text,
              HasSubstr("This is what I found about “lighthouse”:\n\n"
                        "> The lighthouse is green.\n> Since 1911.\n>\n> — you, in “Harbour”"));
  ASSERT_EQ(shelf_->asked.size(), 1U);
  EXPECT_EQ(shelf_->asked[0].agent_id, "agent");
  EXPECT_EQ(shelf_->asked[0].thread_id, "thread");
}

TEST_F(LibrarianTest, AcceptsMatchesOfSomeOfTheWords) {
  shelf_->any = {{"The lighthouse is green.", "you", false}};
  EXPECT_THAT(
      ask("Who painted the lighthouse?").text,
      HasSubstr("Nothing that I found has all of “painted”, “lighthouse”. This has some of it:\n\n> The light"));
}

TEST_F(LibrarianTest, StatesWhatItDidNotFind) {
  EXPECT_THAT(ask("Who painted the lighthouse?").text,
              HasSubstr("I found nothing about “painted”, “lighthouse”. I searched this thread and the shelf."));
}

TEST_F(LibrarianTest, QuotesTheConversationItself) {
  say(Message::Role::user, "The lighthouse is green.");
  say(Message::Role::assistant, std::string(label) + "I found nothing about “lighthouse”.");
  say(Message::Role::user, "Where is the lighthouse?");
  say(Message::Role::assistant, "The lighthouse stands in the harbour.");
  EXPECT_EQ(ask("What about the lighthouse?").text, std::string(label) +
                                                        "This is what I found about “lighthouse”:\n\n"
                                                        "> The lighthouse stands in the harbour.\n>\n"
                                                        "> — the assistant, earlier in this thread\n\n"
                                                        "> The lighthouse is green.\n>\n"
                                                        "> — you, earlier in this thread");
}

TEST_F(LibrarianTest, PutsThisThreadFirstAndNothingTwice) {
  shelf_->all = {{"lighthouse 1", "a", false}, {"lighthouse 1", "b", false}, {"lighthouse 2", "c", true},
                 {"lighthouse 3", "d", false}, {"lighthouse 4", "e", false}, {"lighthouse 5", "f", false}};
  const auto text = ask("lighthouse").text;
  EXPECT_LT(text.find("lighthouse 2"), text.find("lighthouse 1"));
  EXPECT_THAT(text, AllOf(HasSubstr("— a"), Not(HasSubstr("— b")), HasSubstr("— e"), Not(HasSubstr("— f"))));
}

TEST_F(LibrarianTest, SummarisesByQuoting) {
  say(Message::Role::user, "The lighthouse is green. It was red before.");
  say(Message::Role::assistant, "I see.");
  say(Message::Role::user, "thanks");
  say(Message::Role::user, "The harbour\nis small");
  EXPECT_THAT(ask("Summarise this thread").text, EndsWith("begin:\n\n1. The lighthouse is green.\n2. The harbour"));
}

TEST_F(LibrarianTest, HasNothingToSummariseAtFirst) {
  EXPECT_THAT(ask("Summarise this thread").text, HasSubstr("nothing to sum up yet"));
}

TEST_F(LibrarianTest, SummarisesTheLatestOfALongThread) {
  for (int i = 1; i <= 25; ++i) say(Message::Role::user, "Lighthouse " + std::to_string(i));
  EXPECT_THAT(ask("tl;dr").text, AllOf(HasSubstr("the last 20 of your 25 messages"), HasSubstr("\n6. Lighthouse 6\n"),
                                       Not(HasSubstr("Lighthouse 5\n"))));
}

TEST_F(LibrarianTest, SaysThatANoteIsKept) {
  EXPECT_THAT(ask("Remember that the door code is 4711").text,
              AllOf(HasSubstr("kept in this thread"), HasSubstr("“door”, “code”, “4711”")));
}

TEST_F(LibrarianTest, StreamsAFewWordsAtATime) {
  const auto answer = ask("Hello");
  EXPECT_GT(answer.deltas.size(), 10U);
  for (const auto& delta : answer.deltas) EXPECT_LE(delta.size(), 64U);
}

TEST_F(LibrarianTest, GivesTheSameAnswerAgain) {
  const auto first = ask("Who painted the lighthouse?").text;
  request_.messages.clear();
  EXPECT_EQ(ask("Who painted the lighthouse?").text, first);
}

TEST_F(LibrarianTest, StopsAtOnce) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "word ";
  const auto answer = ask("repeat " + text, 3);
  EXPECT_EQ(answer.deltas.size(), 3U);
  const auto& failure = std::get<ModelFailure>(answer.outcome);
  EXPECT_EQ(failure.kind, ModelFailure::Kind::stopped);
  EXPECT_EQ(failure.usage.output_tokens, static_cast<std::int64_t>((answer.text.size() + 3) / 4));
}

TEST_F(LibrarianTest, RepeatsAText) {
  say(Message::Role::assistant, "Hello.");
  const auto answer = ask("Repeat: Grüße\n\n- aus  Köln ");
  EXPECT_EQ(answer.text, std::string(label) + "Grüße\n\n- aus  Köln ");
  EXPECT_EQ(std::get<ModelReply>(answer.outcome).stop, StopReason::stop);
}

TEST_F(LibrarianTest, ObservesTheLimitOfTheAnswer) {
  request_.max_output_tokens = 20;
  const auto answer = ask("Hello");
  EXPECT_EQ(answer.text.size(), 80U);
  EXPECT_EQ(std::get<ModelReply>(answer.outcome).stop, StopReason::length);
}

TEST_F(LibrarianTest, EstimatesTokens) {
  request_.system = "12345678";
  const auto answer = ask("Hello");
  const auto& usage = std::get<ModelReply>(answer.outcome).usage;
  EXPECT_EQ(usage.input_tokens, 4);
  EXPECT_GT(usage.output_tokens, 100);
}

TEST_F(LibrarianTest, CallsTheToolThatIsClearlyRequested) {
  const auto answer = ask("read notes.md");
  const auto& reply = std::get<ModelReply>(answer.outcome);
  EXPECT_EQ(answer.text, "");
  EXPECT_EQ(reply.stop, StopReason::tool_use);
  ASSERT_EQ(reply.tool_uses.size(), 1u);
  EXPECT_EQ(reply.tool_uses[0].name, "Read");
}

TEST_F(LibrarianTest, AnswersFromTheToolsResult) {
  ask("read notes.md");
  Message call;
  call.role = Message::Role::assistant;
  call.tool_uses = {{"one", "Read", {{"path", "notes.md"}}, {}}};
  request_.messages.push_back(call);
  say(Message::Role::tool, "1\tgrep ``` in src");
  Response answer;
  testing::run([&](Loop&) -> Task<> {
    StopSource stop;
    answer.outcome = co_await librarian_.answer(request_, [&](const Delta& delta) { answer.text += delta.text; }, stop);
  });
  EXPECT_THAT(answer.text, HasSubstr("````\n1\tgrep ``` in src\n````"));
  EXPECT_THAT(answer.text, HasSubstr("not a language model"));
  EXPECT_TRUE(std::get<ModelReply>(answer.outcome).tool_uses.empty());
}

}  // namespace
}  // namespace agw

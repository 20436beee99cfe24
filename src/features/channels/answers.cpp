#include "features/channels/answers.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "base/text/utf8.hpp"
#include "features/channels/markup.hpp"
#include "features/events/hub.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

/// Above this number, further messages stay unread at the service.
constexpr std::size_t max_open_questions = 100;
constexpr auto store_retry_delay = 1s;
/// UTF-16 units reserved for the remark that a message may have been sent twice.
constexpr std::size_t reserve = 64;

std::string end_remark(const json::object& metadata) {
  if (const auto error = string_or_empty(metadata, "error"); !error.empty()) {
    return fmt::format("The answer failed: {}", error);
  }
  const auto reason = string_or_empty(metadata, "finish_reason");
  if (reason == "stopped") return "(stopped)";
  if (reason == "interrupted") return "(The gateway was ended before the answer was complete. Send it again to go on.)";
  return {};
}

}  // namespace

ChannelAnswers::ChannelAnswers(const ChannelServices& services, const ChannelSettings& settings, Messenger& messenger,
                               ChannelOutbox& outbox, StopSource& stop)
    : services_(services),
      settings_(settings),
      messenger_(messenger),
      outbox_(outbox),
      stop_(stop),
      changed_(services.loop),
      typing_(services.loop, messenger, stop, [this] { return chats_at_work(); }),
      group_(services.loop) {
  group_.on_failure([&settings](const std::exception_ptr& failure) {
    log::error("the channel {} could not pass on an answer: {}", settings.name, message_of(failure));
  });
}

Task<> ChannelAnswers::recover() {
  AGW_DEBUG_ASSERT(questions_.empty());
  struct Unfinished {
    std::vector<InboundRow> questions;
    std::vector<OutboxRow> unsent;
  };
  auto unfinished = co_await services_.database.write([this](Connection& connection) {
    Unfinished found{channel_store::open_questions(connection, settings_.id),
                     channel_store::unsent(connection, settings_.id)};
    std::erase_if(found.questions, [&](const InboundRow& row) {
      const bool is_dropped = !row.place.is_group && !settings_.allow.contains(row.sender);
      if (is_dropped) channel_store::mark_answered(connection, row.number);
      return is_dropped;
    });
    std::erase_if(found.unsent, [&](const OutboxRow& row) {
      const bool is_dropped = is_for_stranger(connection, row.place);
      if (is_dropped) channel_store::remove_sent(connection, row.number);
      return is_dropped;
    });
    return found;
  });
  outbox_.add(std::move(unfinished.unsent));
  for (auto& question : unfinished.questions) add(std::move(question));
}

bool ChannelAnswers::is_for_stranger(Connection& connection, const ChatPlace& place) const {
  if (place.is_group) return false;
  // Matrix rooms have their own ids; elsewhere a chat has the person's id.
  const auto person = settings_.service == ChannelService::matrix
                          ? channel_store::person_in(connection, settings_.id, place)
                          : std::optional(place.chat);
  return person && !settings_.allow.contains(*person);
}

void ChannelAnswers::add(InboundRow row) {
  AGW_ASSERT(row.number > 0);
  AGW_ASSERT(!row.is_answered);
  AGW_ASSERT(row.integration_id == settings_.id);
  const auto thread_id = row.thread_id.value_or("");
  const auto turn_id = row.turn_id.value_or("");
  auto& question = questions_.emplace(thread_id, Question{std::move(row)})->second;
  // The run may have ended before this object subscribed.
  if (!services_.runs.turn_in_use(turn_id)) return end(question);
  const auto active = services_.runs.front(thread_id);
  if (active && active->run.turn_id == turn_id) question.text = active->log.content();
  typing_.update();
}

ChannelAnswers::Question* ChannelAnswers::question_of(std::string_view thread_id, std::string_view turn_id) {
  const auto [begin, end] = questions_.equal_range(thread_id);
  for (auto one = begin; one != end; ++one) {
    if (one->second.row.turn_id == turn_id) return &one->second;
  }
  return nullptr;
}

const InboundRow* ChannelAnswers::find(std::string_view thread_id, std::string_view turn_id) const {
  auto* question = const_cast<ChannelAnswers*>(this)->question_of(thread_id, turn_id);
  return question ? &question->row : nullptr;
}

std::string ChannelAnswers::problem() const {
  for (const auto& [thread, question] : questions_) {
    if (!question.problem.empty()) return question.problem;
  }
  return {};
}

std::set<std::string, std::less<>> ChannelAnswers::threads() const {
  std::set<std::string, std::less<>> found;
  for (const auto& [thread_id, question] : questions_) found.insert(thread_id);
  return found;
}

std::set<ChatPlace> ChannelAnswers::chats_at_work() const {
  std::set<ChatPlace> chats;
  for (const auto& [thread_id, question] : questions_) {
    if (!question.is_ending && services_.approvals.waiting({thread_id}).empty()) chats.insert(question.row.place);
  }
  return chats;
}

Task<> ChannelAnswers::join() {
  co_await typing_.join();
  co_await group_.join();
}

bool ChannelAnswers::has_questions(std::string_view thread_id) const { return questions_.contains(thread_id); }

void ChannelAnswers::deliver(const DomainEvent& event) {
  if (event.thread_id.empty() || !has_questions(event.thread_id)) return;
  if (event.type == "text-delta") return append(event);
  if (event.type.starts_with("permission-")) return typing_.update();
  if (event.type != "finish" && event.type != "stopped" && event.type != "steered") return;
  if (auto* question = question_of(event.thread_id, string_or_empty(event.message_members(), "turnId"))) end(*question);
}

void ChannelAnswers::append(const DomainEvent& event) {
  if (settings_.stream == ChannelStream::off) return;
  const auto members = event.message_members();
  auto* question = question_of(event.thread_id, string_or_empty(members, "turnId"));
  if (!question || question->is_ending) return;
  question->text += string_or_empty(members, "delta");
  const auto shown = utf16_prefix(question->text, messenger_.traits().max_units);
  // Services refuse a message without visible characters.
  if (!is_invisible(shown)) outbox_.show_preview(question->row.place, question->row.number, std::string(shown));
}

void ChannelAnswers::end(Question& question) {
  if (std::exchange(question.is_ending, true) || stop_.requested()) return;
  outbox_.end_preview(question.row.place, question.row.number);
  typing_.update();
  group_.spawn(finish(question.row));
}

Task<> ChannelAnswers::finish(InboundRow row) {
  AGW_ASSERT(row.number > 0);
  std::optional<std::vector<OutboxRow>> added;
  while (!added && !stop_.requested()) {
    std::string problem;
    try {
      // If the answering node was killed, its run is ended once its lease has expired.
      if (!co_await services_.runs.is_being_answered(row.turn_id.value_or(""))) added = co_await store_answer(row);
    } catch (const std::exception& error) {
      problem = error.what();
    }
    if (auto* question = question_of(row.thread_id.value_or(""), row.turn_id.value_or(""))) {
      if (!problem.empty() && problem != question->problem)
        log::warn("an answer for the channel {} waits: {}", settings_.name, problem);
      question->problem = std::move(problem);
    }
    if (!added) co_await pause(stop_, store_retry_delay);
  }
  if (!added) co_return;
  outbox_.add(*std::move(added));
  const auto [begin, end] = questions_.equal_range(row.thread_id.value_or(""));
  const auto ended = std::find_if(begin, end, [&](const auto& one) { return one.second.row.number == row.number; });
  AGW_ASSERT(ended != end);
  AGW_ASSERT(ended->second.is_ending);
  questions_.erase(ended);
  changed_.pulse();
}

/// The messages of the answer; none if it was stored before.
Task<std::vector<OutboxRow>> ChannelAnswers::store_answer(InboundRow row) {
  const auto rows = rows_of(row, co_await text_of_answer(row.turn_id.value_or("")));
  co_return co_await services_.database.write([this, rows, row](Connection& connection) {
    if (!channel_store::mark_answered(connection, row.number)) return std::vector<OutboxRow>();
    auto inserted = rows;
    add_files(row, channel_store::files_of(connection, row.number), inserted);
    for (auto& one : inserted) {
      one.number = channel_store::insert(connection, one);
      AGW_ASSERT(one.number > 0);
    }
    return inserted;
  });
}

Task<std::string> ChannelAnswers::text_of_answer(std::string turn_id) {
  std::optional<Turn> answer;
  try {
    answer = co_await services_.threads.answer_of(std::move(turn_id));
  } catch (const NotFound&) {
    co_return "";  // The turn was deleted.
  }
  if (!answer) co_return "";
  auto text = std::move(answer->content);
  const auto remark = answer->metadata ? end_remark(*answer->metadata) : std::string();
  if (!remark.empty()) text += (text.empty() ? "" : "\n\n") + remark;
  co_return is_invisible(text) ? "(no text)" : text;
}

std::vector<OutboxRow> ChannelAnswers::rows_of(const InboundRow& question, const std::string& text) const {
  AGW_ASSERT(messenger_.traits().max_units > reserve);
  std::vector<OutboxRow> rows;
  const bool names_question = question.place.is_group || messenger_.traits().is_mail;
  for (auto& piece : split_markdown(text, messenger_.traits().max_units - reserve)) {
    rows.push_back({.id = new_id(),
                    .integration_id = settings_.id,
                    .place = question.place,
                    .replies_to = names_question && rows.empty() ? question.message : std::string(),
                    .text = std::move(piece),
                    .is_markdown = true,
                    .question = rows.empty() ? std::optional(question.number) : std::nullopt,
                    .created_at = services_.clock.now()});
  }
  return rows;
}

void ChannelAnswers::add_files(const InboundRow& question, const std::string& files,
                               std::vector<OutboxRow>& rows) const {
  if (files.empty()) return;
  if (messenger_.traits().is_mail && !rows.empty()) {
    rows.front().files = files;
    return;
  }
  std::vector<std::string> ids;
  boost::split(ids, files, boost::is_any_of(" "));
  for (auto& id : ids) {
    rows.push_back({.id = new_id(),
                    .integration_id = settings_.id,
                    .place = question.place,
                    .files = std::move(id),
                    .created_at = services_.clock.now()});
  }
}

Task<> ChannelAnswers::wait_for_capacity() {
  while (questions_.size() >= max_open_questions && !stop_.requested()) {
    co_await with_timeout(stop_, no_limit, changed_.wait());
  }
}

}  // namespace agw

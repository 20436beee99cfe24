#include "server/websocket/event_socket.hpp"

#include <chrono>
#include <map>
#include <utility>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"

namespace agw {

namespace {

std::int64_t seq_of(const json::object& members) {
  const auto* seq = members.if_contains("seq");
  return seq && seq->is_int64() ? seq->get_int64() : 0;
}

/// The answer to a resume, produced in pieces.
class AnswerText : public LongText {
public:
  explicit AnswerText(Subscription::Answer answer) : answer_(std::move(answer)) {}

  std::string next() override {
    if (!answer_.text.empty()) return std::exchange(answer_.text, {});
    if (!answer_.runs) return {};
    auto piece = answer_.runs->next();
    if (!piece.empty()) return piece;
    answer_.runs.reset();
    return "}";
  }

private:
  Subscription::Answer answer_;
};

std::string whole(Subscription::Answer answer) {
  AnswerText text(std::move(answer));
  std::string all;
  for (auto piece = text.next(); !piece.empty(); piece = text.next()) all += piece;
  return all;
}

/// Determines whether the resume's answer (its text, or the seq of a run) already contains an event.
class Contained {
public:
  explicit Contained(const json::object& answer) {
    const auto* runs = array_member(answer, "runs");
    if (!runs) return;
    for (const auto& run : *runs) {
      const auto& members = run.as_object();
      seqs_[string_or_empty(members, "runId")] = seq_of(members);
    }
  }

  bool contains(const std::string& event) const {
    const auto parsed = parse_json(event);
    if (!parsed || !parsed->is_object()) return false;
    const auto& members = parsed->get_object();
    const auto run = seqs_.find(string_or_empty(members, "runId"));
    const auto seq = seq_of(members);
    return run != seqs_.end() && seq > 0 && seq <= run->second;
  }

private:
  std::map<std::string, std::int64_t> seqs_;
};

}  // namespace

EventSocket::EventSocket(Loop& loop, SocketStream& stream, WebSocketFlusher& flusher, Hub& hub,
                         Subscription::ActiveRuns active_runs, const RunsElsewhere& runs_elsewhere)
    : WebSocket(loop, stream, flusher),
      loop_(loop),
      hub_(hub),
      subscription_(std::move(active_runs)),
      runs_elsewhere_(runs_elsewhere) {}

EventSocket::~EventSocket() {
  listening_.reset();
  hub_.interests_changed();
}

/// Not a coroutine, whose frame would exist as long as each idle socket.
Task<> EventSocket::serve(std::string first_bytes) {
  AGW_ASSERT(!listening_);
  listening_.emplace(hub_, *this);
  return run(std::move(first_bytes));
}

void EventSocket::deliver(const DomainEvent& event) {
  AGW_ASSERT(listening_);
  if (closing()) return;
  if (event.record.as<EventsMissed>())
    return close(websocket::CloseCode::service_restart, "events were missed: connect again and resume");
  if (!subscription_.matches(event)) return;
  if (resume_)
    hold_back(event.message());
  else
    queue_text(event.message());
}

void EventSocket::hold_back(SharedMessage event) {
  AGW_ASSERT(event);
  AGW_ASSERT(resume_->event_bytes <= queue_limit);  // otherwise the socket was closed
  resume_->event_bytes += event->size();
  resume_->events.push_back(std::move(event));
  if (resume_->event_bytes <= queue_limit) return;
  resume_->events.clear();
  close(websocket::CloseCode::try_again_later, "too much came while other nodes were asked: connect again and resume");
}

bool EventSocket::is_shown_on(std::string_view device) const {
  return !closing() && subscription_.is_shown_on(device, std::chrono::steady_clock::now());
}

void EventSocket::add_interests(Interests& interests) const {
  if (!closing()) subscription_.add_interests(interests, std::chrono::steady_clock::now());
}

void EventSocket::received(std::string text) {
  if (resume_)
    resume_->messages.push_back(std::move(text));
  else
    take(text);
}

/// Leaves further messages unread until the answer to the client's resume is complete.
Task<> EventSocket::ready_for_more() {
  while (const auto waiting = resume_) co_await waiting->over.wait();
}

void EventSocket::take(const std::string& text) {
  AGW_ASSERT(!resume_);
  auto answer = subscription_.take(text);
  hub_.interests_changed();
  if (!answer.runs) return queue_text(answer.text);
  if (!runs_elsewhere_) return queue_text(std::make_unique<AnswerText>(std::move(answer)));
  auto parsed = parse_stored_json(whole(std::move(answer)));
  resume_ = std::make_shared<Resume>(loop_);
  spawn(resume(std::move(parsed.as_object())));
}

/// Sends the answer of another node after the events that it contains, and before the others.
Task<> EventSocket::resume(json::object answer) {
  AGW_ASSERT(resume_);
  Subscription::Threads threads;
  for (auto& thread : strings_of(answer, "threadIds")) threads.insert(std::move(thread));
  try {
    auto& runs = answer.at("runs").as_array();
    for (auto& run : co_await runs_elsewhere_(std::move(threads))) runs.push_back(std::move(run));
  } catch (...) {
    continue_with(answer);
    throw;
  }
  continue_with(answer);
}

void EventSocket::continue_with(const json::object& answer) {
  const auto held = std::exchange(resume_, nullptr);
  AGW_ASSERT(held);
  AGW_ASSERT(!held->over.happened());
  queue_text(to_json(answer));
  const Contained contained(answer);
  for (const auto& event : held->events) {
    if (!contained.contains(*event)) queue_text(event);
  }
  for (auto& text : held->messages) received(std::move(text));
  held->over.notify();
}

}  // namespace agw

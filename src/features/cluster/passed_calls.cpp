// Tool calls between nodes. The calling node sends `CALL` and waits. Meanwhile, the node that runs the server sends
// `ASK` back for each question to the person. Both are passed requests (node_bus.cpp): executed at most once, and ended
// when the other node requests it or is lost.
//
// A call returns only once none of its questions is in progress here, because questions refer to the call.

#include "features/cluster/passed_calls.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/id.hpp"
#include "features/cluster/call_messages.hpp"
#include "features/cluster/node_bus.hpp"
#include "features/integrations/service.hpp"

namespace agw {

namespace {

constexpr std::string_view call_method = "CALL";
constexpr std::string_view question_method = "ASK";
constexpr int answered = 200;

PersonAnswer unanswered_because(std::string why) {
  return {.kind = PersonAnswer::Kind::unanswered, .reason = std::move(why)};
}

}  // namespace

struct PassedCalls::Caller {
  Caller(Loop& loop, const ToolCall& of) : call(of), answered(loop) {}

  const ToolCall& call;
  StopSource ended;     ///< the call has ended
  int questions = 0;    ///< questions in progress
  AsyncEvent answered;  ///< pulsed when a question has ended
};

PassedCalls::~PassedCalls() = default;

void PassedCalls::use(NodeBus& bus) {
  AGW_ASSERT(!bus_);
  bus_ = &bus;
}

Task<ToolOutcome> PassedCalls::call(std::string node, std::string integration, std::string tool, const ToolCall& call) {
  if (!bus_) {
    co_return failed(
        fmt::format("the node {} runs this integration: set cluster.events at all nodes, so that they can "
                    "use it",
                    node));
  }
  const auto id = new_id();
  AGW_ASSERT(!callers_.contains(id));
  const auto caller = std::make_shared<Caller>(loop_, call);
  if (call.ask_person) callers_[id] = caller;
  PassedRequest request{.method = std::string(call_method), .content = to_json(call.input)};
  request.segments = {std::move(integration), std::move(tool), node_, call.ask_person ? id : ""};
  ToolOutcome outcome;
  std::exception_ptr failure;
  try {
    outcome = co_await pass_on(std::move(node), std::move(request), call.stop);
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  callers_.erase(id);
  caller->ended.request();
  // Questions refer to the call, so even a cancelled call must wait for them.
  co_await ignore_cancellation();
  while (caller->questions > 0) co_await caller->answered.wait();

  if (failure) std::rethrow_exception(failure);
  co_return outcome;
}

Task<ToolOutcome> PassedCalls::pass_on(std::string node, PassedRequest request, StopSource& stop) {
  AGW_ASSERT(bus_);
  std::optional<Response> response;
  try {
    response = co_await bus_->pass_on(node, std::move(request), &stop);
  } catch (const ApiError& error) {
    co_return failed(error.error());
  }
  if (!response)
    co_return failed(fmt::format("the node {} runs this integration, and cannot be reached, try again", node));
  if (response->status != answered)
    co_return failed(fmt::format("the node {} runs another release, which cannot do this", node));
  co_return outcome_in(response->body);
}

bool PassedCalls::handles(const PassedRequest& request) {
  return request.method == call_method || request.method == question_method;
}

Task<Response> PassedCalls::answer(PassedRequest request, StopSource& stop) {
  AGW_ASSERT(handles(request));
  return request.method == call_method ? answer_call(std::move(request), stop)
                                       : answer_question(std::move(request), stop);
}

Task<Response> PassedCalls::answer_call(PassedRequest request, StopSource& stop) {
  const auto input = parse_stored_json(request.content);
  const auto& node = request.segments.at(2);
  const auto& id = request.segments.at(3);
  AskPerson ask_person;
  if (!id.empty()) {
    ask_person = [this, node, id](PersonQuestion question, StopSource& ending) {
      return ask(node, id, std::move(question), ending);
    };
  }
  const auto outcome = co_await integrations_.call_here(request.segments.at(0), request.segments.at(1),
                                                        input.as_object(), stop, std::move(ask_person));
  co_return Response{.body = content_of(outcome)};
}

Task<PersonAnswer> PassedCalls::ask(std::string node, std::string call_id, PersonQuestion question, StopSource& stop) {
  AGW_ASSERT(bus_);
  AGW_ASSERT(!call_id.empty());
  PassedRequest request{.method = std::string(question_method), .content = content_of(question)};
  request.segments = {std::move(call_id)};
  try {
    const auto response = co_await bus_->pass_on(node, std::move(request), &stop);
    if (response && response->status == answered) co_return answer_in(response->body);
  } catch (const ApiError& error) {
    co_return unanswered_because(error.error());
  }
  co_return unanswered_because(fmt::format("the node {} cannot be reached", node));
}

Task<Response> PassedCalls::answer_question(PassedRequest request, StopSource& stop) {
  const auto found = callers_.find(request.segments.at(0));
  if (found == callers_.end()) co_return Response{.body = content_of(unanswered_because("the call has ended"))};
  const auto caller = found->second;
  AGW_ASSERT(caller->call.ask_person);
  AGW_ASSERT(!caller->ended.requested());
  const struct Question {
    explicit Question(Caller& of) : caller(of) { ++caller.questions; }
    ~Question() {
      AGW_ASSERT(caller.questions > 0);
      --caller.questions;
      caller.answered.pulse();
    }
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    Caller& caller;
  } counted(*caller);
  StopSource ending;
  const StopSource::Listener stopped(stop, [&] { ending.request(); });
  const StopSource::Listener ended(caller->ended, [&] { ending.request(); });
  const auto answer = co_await caller->call.ask_person(question_in(request.content), ending);
  co_return Response{.body = content_of(answer)};
}

}  // namespace agw

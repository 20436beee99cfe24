#include "cli/client/approvals.hpp"

#include <exception>
#include <utility>

#include "base/json/json_values.hpp"

namespace agw::cli {

namespace {

constexpr int conflict = 409;

std::string id_in(const json::object& request) { return string_or_empty(request, "id"); }

}  // namespace

Approvals::Approvals(Loop& loop, const Client& client, Asker& asker, std::string thread_id)
    : client_(client), asker_(asker), thread_id_(std::move(thread_id)), group_(loop) {}

void Approvals::take(const json::object& event) {
  const auto type = string_or_empty(event, "type");
  if (type == "permission-requested") add(object_or_empty(event, "request"));
  if (type == "permission-decided") close(event);
}

Task<> Approvals::read() {
  const auto list = co_await client_.get(path({"permissions"}, {{"thread_id", thread_id_}}));
  if (!list.is_array()) co_return;
  for (const auto& request : list.get_array()) add(request.as_object());
}

void Approvals::add(const json::object& request) {
  if (is_stopped_ || string_member(request, "thread_id") != thread_id_ || !known_.insert(id_in(request)).second) return;
  waiting_.push_back(std::make_shared<Waiting>());
  waiting_.back()->request = request;
  if (!std::exchange(is_asking_, true)) group_.spawn(ask_all());
}

void Approvals::close(const json::object& event) {
  known_.insert(string_or_empty(event, "requestId"));
  for (const auto& waiting : waiting_) {
    if (id_in(waiting->request) != string_member(event, "requestId")) continue;
    waiting->outcome = event;
    waiting->over.request();
    if (waiting->is_open) asker_.show_decision(event);  // at once: before the text that follows in the answer
  }
}

Task<> Approvals::ask_all() {
  std::exception_ptr failure;
  while (!waiting_.empty()) {
    const auto waiting = waiting_.front();
    try {
      if (!waiting->over.requested()) co_await ask(*waiting);
    } catch (...) {
      failure = std::current_exception();
    }
    waiting_.pop_front();
  }
  is_asking_ = false;
  if (failure) std::rethrow_exception(failure);
}

Task<> Approvals::ask(Waiting& waiting) {
  waiting.is_open = true;
  auto body = co_await asker_.ask(waiting.request, waiting.over);
  waiting.is_open = false;
  if (waiting.over.requested() || !body) co_return;
  try {
    co_await client_.post(path({"permissions", id_in(waiting.request)}), std::move(*body));
  } catch (const ResponseError& error) {
    if (error.status() != conflict && !error.is_not_found()) throw;
    asker_.show_decision(waiting.outcome);
  }
}

Task<> Approvals::stop() {
  is_stopped_ = true;
  for (const auto& waiting : waiting_) waiting->over.request();
  co_await group_.join();
}

}  // namespace agw::cli

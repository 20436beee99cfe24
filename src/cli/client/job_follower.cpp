#include "cli/client/job_follower.hpp"

#include <utility>

#include "base/json/json_values.hpp"
#include "cli/client/event_stream.hpp"
#include "cli/output/answer_printer.hpp"

namespace agw::cli {

namespace {

const json::object& run_of(const json::object& event) {
  static const json::object none;
  const auto* run = object_member(event, "run");
  return run ? *run : none;
}

}  // namespace

JobFollower::JobFollower(FoundGateway gateway, std::optional<std::string> data_dir, JobRunIds ids,
                         AnswerPrinter& printer)
    : gateway_(std::move(gateway)),
      data_dir_(std::move(data_dir)),
      ids_(std::move(ids)),
      printer_(printer),
      answer_("", printer) {
  answer_.set_run_id(ids_.run_id);
}

Task<json::object> JobFollower::follow() {
  auto events = co_await EventStream::open(gateway_, ids_.thread_id);
  for (;;) {
    if (auto ended = co_await follow(*events)) co_return std::move(*ended);
    events = co_await reconnect(gateway_, data_dir_, ids_.thread_id, printer_);
  }
}

/// Returns nullopt if the connection broke.
Task<std::optional<json::object>> JobFollower::follow(EventStream& events) {
  try {
    if (auto ended = co_await poll()) co_return ended;
    while (const auto event = co_await events.next()) {
      const bool over =
          string_member(*event, "type") == "job-finished" && string_member(run_of(*event), "id") == ids_.run_id;
      if (!over && answer_.take(*event) != StreamedAnswer::Progress::missed) continue;
      if (auto ended = co_await poll()) co_return ended;
    }
    co_return std::nullopt;
  } catch (const ResponseError&) {
    throw;
  } catch (const std::runtime_error&) {
    co_return std::nullopt;  // reconnecting shows whether the gateway has ended
  }
}

/// Prints missed events; returns the row if the run has ended.
Task<std::optional<json::object>> JobFollower::poll() {
  // The order matters: if the row were read second and showed the end, events in between would be lost.
  auto found = co_await row();
  co_await catch_up();
  const auto status = string_member(found, "status");
  if (status == "queued" || status == "started") co_return std::nullopt;
  printer_.end();
  co_return found;
}

Task<> JobFollower::catch_up() {
  if (answer_.outcome()) co_return;
  const auto list =
      co_await client_.get(path({"threads", ids_.thread_id, "events"},
                                {{"runId", ids_.run_id}, {"after", std::to_string(answer_.last_sequence())}}));
  for (const auto& event : list.as_array()) answer_.take_caught_up(event.as_object());
}

Task<json::object> JobFollower::row() const {
  const auto rows = co_await client_.get(path({"jobs", ids_.job, "runs"}, {{"limit", "1000"}}));
  for (const auto& row : rows.as_array()) {
    if (string_member(row.as_object(), "id") == ids_.run_id) co_return row.as_object();
  }
  throw ResponseError(ResponseError::not_found, "the gateway no longer knows the run");
}

}  // namespace agw::cli

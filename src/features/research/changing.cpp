// The step in which the agent changes the asset, with its tools or by answering with the complete new text.

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "features/research/iteration.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto max_work_time = 1h;
constexpr int attempts_reported = 10;
constexpr std::size_t max_notes_length = 500;
constexpr std::size_t max_result_length = 300;

constexpr std::string_view how_with_tools =
    "Change the file with your tools and say what you did, or use none that change anything and answer with its whole "
    "new text and nothing else.";
constexpr std::string_view how_without_tools =
    "Write and Edit cannot change this file for you, so do not try them: answer with its whole new text and nothing "
    "else.";

/// Records the outcome of a run that research started.
struct AgentWork : RunObserver {
  Runs::AtEnd ending(const RunOutcome& how) override {
    AGW_ASSERT(!is_over.requested());
    outcome = how;
    return {};
  }
  void ended() override { is_over.request(); }

  RunOutcome outcome;
  StopSource is_over;
};

/// The text after the first `code_points` code points.
std::string_view text_after(std::string_view text, std::size_t code_points) {
  return text.substr(first_characters(text, code_points).size());
}

/// The text after the last tool call. Text before it is commentary.
std::string last_words(const std::string& content, const RunOutcome& outcome) {
  if (outcome.steps.empty()) return content;
  AGW_ASSERT(outcome.steps.back().text_end >= 0);
  auto last = text_after(content, static_cast<std::size_t>(outcome.steps.back().text_end));
  while (last.starts_with('\n')) last.remove_prefix(1);
  return std::string(last);
}

/// Removes a fence around the whole text, which models often add.
std::string_view without_fence(std::string_view text) {
  auto inner = text;
  while (inner.ends_with('\n')) inner.remove_suffix(1);
  if (!inner.starts_with("```") || !inner.ends_with("```")) return text;
  const auto first_line = inner.find('\n');
  if (first_line == inner.npos || first_line + 4 > inner.size()) return text;
  inner = inner.substr(first_line + 1);
  inner.remove_suffix(3);
  // With a fence in the middle, the outer fences belong to the text.
  return inner.find("\n```") == inner.npos && !inner.starts_with("```") ? inner : text;
}

std::string new_text(std::string_view answer, const std::string& original) {
  std::string text(without_fence(answer));
  if (original.ends_with('\n') && !text.empty() && !text.ends_with('\n')) text += '\n';
  return text;
}

std::string truncated_to(std::string text, std::size_t max_bytes) {
  return text.size() > max_bytes ? to_utf8(utf8_prefix(text, max_bytes)) + "…" : std::move(text);
}

/// The verdict if the agent tried to change the file with a tool, without effect: then its answer is about the file,
/// and is not the new text.
std::string side_effect_text(const SideEffect& side_effect) {
  return fmt::format(
      "the agent used {}, and the file is what it was; what the agent said then is not taken for it. {} answered: {}",
      side_effect.tool, side_effect.tool, truncated_to(side_effect.result, max_result_length));
}

std::string attempt_text(const Experiment& experiment) {
  return fmt::format("- {}: {}\n", to_text(experiment.verdict), experiment.reason.value_or(""));
}

}  // namespace

Task<std::string> Iteration::change_request(const Measured& before) {
  AGW_ASSERT(before.metric);
  const auto& metric = *before.metric;
  std::string attempts;
  for (const auto& experiment : co_await services_.experiments.list(
           {.domain = order_.config.domain, .verdict = {}, .limit = {attempts_reported}})) {
    attempts += attempt_text(experiment);
  }
  std::string rubric;
  if (order_.config.rubric_path) {
    rubric = co_await services_.blocking.run([path = *order_.config.rubric_path] { return read_asset(path).bytes; });
  }
  const auto project_id = order_.project ? std::optional(order_.project->id) : std::nullopt;
  const bool may_write = services_.engine.may_write(order_.agent, project_id, order_.config.asset_path);
  co_return fmt::format(
      "Improve the file {} so that its {} gets {}. It is {} now; it will be measured again after your change, and the "
      "file is put back unless it got better. Make one change whose effect you can explain.\n\n{}\n\n"
      "{}{}The file as it is:\n\n{}",
      order_.config.asset_path, metric.name, metric.higher_is_better ? "higher" : "lower", metric.value,
      may_write ? how_with_tools : how_without_tools,
      rubric.empty() ? "" : fmt::format("What it is judged by:\n\n{}\n\n", rubric),
      attempts.empty() ? "" : fmt::format("What was tried before, the latest first:\n{}\n", attempts),
      asset_.original());
}

Task<> Iteration::change(const Measured& before) {
  co_await asset_.record();
  const auto answer = co_await have_agent_work(co_await change_request(before));
  co_await asset_.record(co_await left_by_agent(answer));
  const auto& original = asset_.original();
  std::string how;
  if (asset_.left() != original) {
    how = "by its tools: ";
  } else if (const auto text = answer.last_side_effect ? std::string() : new_text(answer.last_words, original);
             !text.empty() && text != original) {
    how = "by a new text: ";
    co_await asset_.replace(text);
  }
  result_.notes = truncated_to(how + answer.last_words, max_notes_length);
  if (how.empty() && answer.last_side_effect) throw IterationProblem(side_effect_text(*answer.last_side_effect));
}

/// The hash of the content that the agent's run left in the asset. No value unless its last tool is one that records
/// its changes, and changed the asset.
Task<std::optional<std::string>> Iteration::left_by_agent(const AgentAnswer& answer) {
  const auto tool = answer.last_side_effect ? answer.last_side_effect->tool : "";
  if (tool != "Write" && tool != "Edit" && tool != "Bash") co_return std::nullopt;
  co_return co_await services_.checkpoints.content_left(work_.run_id, order_.config.asset_path);
}

/// Runs the agent. Throws IterationProblem if its run fails.
Task<AgentAnswer> Iteration::have_agent_work(std::string prompt) {
  AGW_ASSERT(!work_.thread_id.empty());
  const auto work = std::make_shared<AgentWork>();
  const auto active =
      services_.engine.open_run({.run_id = work_.run_id,
                                 .thread_id = work_.thread_id,
                                 .agent_id = order_.agent->id,
                                 .prompt = std::move(prompt),
                                 .attached_data = {},
                                 .metadata = {{"iteration_id", order_.id}},
                                 .order = {{"mode", "act"}, {own_file_member, order_.config.asset_path}},
                                 .observer = work,
                                 .allows_disabled_agent = true});
  co_await services_.engine.begin_run(active, [](Connection&) {});
  {
    const StopSource::Listener when_stopped(stop_, [active] { active->stop.request(); });
    if (co_await pause(work->is_over, max_work_time) == WaitResult::done) active->stop.request();
    while (co_await pause(work->is_over, max_work_time) == WaitResult::done) {
    }
  }
  const auto& outcome = work->outcome;
  const bool has_only_read = !outcome.stopped && outcome.error.empty() && !outcome.last_side_effect;
  if (!has_only_read) asset_.expect_change();
  result_.cost_usd = result_.cost_usd.value_or(0) + outcome.cost_usd;
  if (outcome.stopped) throw IterationProblem("the agent was stopped");
  if (!outcome.error.empty()) throw IterationProblem("the agent failed: " + outcome.error);
  if (outcome.finish_reason != "stop") throw IterationProblem("the agent could not finish: " + outcome.finish_reason);
  co_return AgentAnswer{last_words(active->log.content(), outcome), outcome.last_side_effect};
}

}  // namespace agw

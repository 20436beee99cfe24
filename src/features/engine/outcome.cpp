#include "features/engine/outcome.hpp"

#include <algorithm>

#include "base/async/assert.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

std::string_view finish_reason(StopReason stop) {
  switch (stop) {
    case StopReason::length:
      return "length";
    case StopReason::content_filter:
      return "content-filter";
    case StopReason::tool_use:
    case StopReason::stop:
      break;
  }
  return "stop";
}

/// Bytes. Kept short, because lists of turns include the metadata of each turn.
constexpr std::size_t kept_reasoning = 32 * 1024;

json::array step_members(const std::vector<StepMark>& steps) {
  json::array members;
  for (const auto& step : steps) {
    members.push_back(
        json::object{{"text_end", step.text_end},
                     {"tool_call_ids", json::array(step.tool_call_ids.begin(), step.tool_call_ids.end())}});
  }
  return members;
}

json::array call_members(const std::vector<ModelCall>& calls) {
  json::array members;
  for (const auto& call : calls) {
    json::object member{{"model", call.model}, {"at_ms", call.at.count()}, {"duration_ms", call.duration.count()}};
    for (const auto& [name, value] : usage_members(call.usage)) member[name] = value;
    member["cost_usd"] = call.cost_usd;
    members.push_back(std::move(member));
  }
  return members;
}

/// Adds the members that regenerating the answer requires.
void add_origin(json::object& metadata, const Run& run) {
  for (const auto name : {std::string_view("agent_id"), named_model_member}) {
    if (const auto* member = run.order.if_contains(name)) metadata[name] = *member;
  }
}

}  // namespace

json::object usage_members(const Usage& usage) {
  return {{"input_tokens", usage.input_tokens},
          {"output_tokens", usage.output_tokens},
          {"cache_read_tokens", usage.cache_read_tokens},
          {"cache_write_tokens", usage.cache_write_tokens}};
}

json::object turn_metadata(const Run& run, const RunOutcome& outcome, std::string_view reasoning) {
  // Clients divide the text at these places.
  AGW_DEBUG_ASSERT(std::ranges::is_sorted(outcome.steps, {}, &StepMark::text_end));
  // The run's time contains that of the reasoning, and is rounded down once.
  AGW_DEBUG_ASSERT(outcome.reasoned <= outcome.duration);
  json::object metadata{{"run_id", run.id},
                        {"model", outcome.model},
                        {"usage", usage_members(outcome.usage)},
                        {"cost_usd", outcome.cost_usd},
                        {"finish_reason", outcome.stopped ? "stopped" : outcome.finish_reason},
                        {"duration_ms", outcome.duration.count()},
                        {"in_reply_to", run.turn_id},
                        {"steps", step_members(outcome.steps)},
                        {"model_calls", call_members(outcome.model_calls)}};
  add_origin(metadata, run);
  if (outcome.partial) metadata["partial"] = true;
  if (!outcome.error.empty()) metadata["error"] = outcome.error;
  if (!reasoning.empty()) {
    metadata["reasoning"] = shortened(reasoning, kept_reasoning);
    metadata["reasoning_ms"] = outcome.reasoned.count();
  }
  if (!outcome.suggestions.empty()) {
    metadata["suggestions"] = json::array(outcome.suggestions.begin(), outcome.suggestions.end());
  }
  return metadata;
}

json::object finish_members(const Run& run, const RunOutcome& outcome) {
  return {{"finishReason", outcome.finish_reason},
          {"assistantTurnId", run.assistant_turn_id},
          {"model", outcome.model},
          {"usage", usage_members(outcome.usage)},
          {"contextTokens", outcome.context_tokens},
          {"costUsd", outcome.cost_usd},
          {"durationMs", outcome.duration.count()}};
}

json::object progress_members(const RunOutcome& outcome) {
  return {{"model", outcome.model}, {"usage", usage_members(outcome.usage)}, {"cost_usd", outcome.cost_usd}};
}

json::object interrupted_metadata(const InterruptedRun& interrupted, const std::string& model) {
  const auto known = [&](std::string_view name, json::value otherwise) {
    if (const auto* member = interrupted.progress.if_contains(name)) otherwise = *member;
    return otherwise;
  };
  std::vector<StepMark> steps;
  for (const auto& step : interrupted.steps) {
    auto& mark = steps.emplace_back(StepMark{step.text_end, {}});
    for (const auto& call : step.calls) mark.tool_call_ids.emplace_back(call.as_object().at("id").as_string());
  }
  json::object metadata{{"run_id", interrupted.run.id},
                        {"model", known("model", json::string(model))},
                        {"usage", known("usage", usage_members({}))},
                        {"cost_usd", known("cost_usd", 0)},
                        {"finish_reason", "interrupted"},
                        {"duration_ms", known("duration_ms", 0)},
                        {"in_reply_to", interrupted.run.turn_id},
                        {"steps", step_members(steps)},
                        {"partial", true}};
  add_origin(metadata, interrupted.run);
  return metadata;
}

void apply_model_outcome(RunOutcome& outcome, const ModelOutcome& model_outcome, bool has_streamed) {
  if (const auto* reply = std::get_if<ModelReply>(&model_outcome)) {
    outcome.finish_reason = finish_reason(reply->stop);
    return;
  }
  const auto& failure = std::get<ModelFailure>(model_outcome);
  outcome.partial = has_streamed || !outcome.steps.empty();
  if (failure.kind == ModelFailure::Kind::stopped) {
    outcome.stopped = true;
    outcome.partial = true;
  } else {
    outcome.finish_reason = "error";
    outcome.error = failure.message;
    outcome.provider_failed = true;
  }
}

}  // namespace agw

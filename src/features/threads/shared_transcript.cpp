#include "features/threads/shared_transcript.hpp"

#include <utility>

#include "base/json/json_values.hpp"

namespace agw {

namespace {

json::array names_of_files(const json::array& files, const FilledSecrets& hidden) {
  json::array names;
  for (const auto& file : files) {
    if (file.is_object())
      names.push_back(json::object{{"name", hidden.hidden_in(string_or_empty(file.get_object(), "name"))}});
  }
  return names;
}

/// An allow-list: a member that is added later may hold private data.
json::object shared_metadata(const json::object& metadata, const FilledSecrets& hidden) {
  json::object kept;
  if (is_true(metadata, "superseded")) kept["superseded"] = true;
  if (const auto tool = string_or_empty(metadata, "tool_name"); !tool.empty())
    kept["tool_name"] = hidden.hidden_in(tool);
  if (const auto* files = array_member(metadata, "attachments")) kept["attachments"] = names_of_files(*files, hidden);
  return kept;
}

}  // namespace

Transcript for_others(Transcript transcript, const FilledSecrets& hidden) {
  transcript.thread.title = hidden.hidden_in(transcript.thread.title);
  transcript.thread.tasks.reset();
  for (auto& turn : transcript.turns) {
    turn.content = turn.role == Role::tool ? std::string() : hidden.hidden_in(turn.content);
    if (turn.metadata) turn.metadata = shared_metadata(*turn.metadata, hidden);
  }
  return transcript;
}

}  // namespace agw

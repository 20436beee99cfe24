#include "features/runs/run_log.hpp"

#include <algorithm>

namespace agw {

namespace {

constexpr std::string_view text_delta = "text-delta";
constexpr std::string_view reasoning_delta = "reasoning-delta";

}  // namespace

RunLog::RunLog(const Run& run) {
  ids_ = ",\"threadId\":";
  write_json(ids_, std::string_view(run.thread_id));
  ids_ += ",\"turnId\":";
  write_json(ids_, std::string_view(run.turn_id));
  ids_ += ",\"runId\":";
  write_json(ids_, std::string_view(run.id));
}

std::string RunLog::head(std::int64_t seq, std::string_view type) const {
  std::string event;
  event.reserve(ids_.size() + type.size() + 64);
  event += "{\"type\":\"";
  event += type;
  event += '"';
  event += ids_;
  event += ",\"seq\":";
  event += std::to_string(seq);
  return event;
}

std::string RunLog::render(std::int64_t seq, std::string_view type, std::string_view member,
                           std::string_view value) const {
  auto event = head(seq, type);
  event += ",\"";
  event += member;
  event += "\":";
  write_json(event, value);
  event += '}';
  return event;
}

std::string RunLog::text(std::string_view delta) {
  text_ += delta;
  entries_.push_back({Kind::text, static_cast<std::uint32_t>(delta.size())});
  return render(seq(), text_delta, "delta", delta);
}

std::string RunLog::reasoning(std::string_view delta) {
  reasoning_ += delta;
  entries_.push_back({Kind::reasoning, static_cast<std::uint32_t>(delta.size())});
  return render(seq(), reasoning_delta, "delta", delta);
}

std::string RunLog::other(std::string_view type, const json::object& members) {
  entries_.push_back({Kind::other, 0});
  auto event = head(seq(), type);
  for (const auto& member : members) {
    event += ',';
    write_json(event, std::string_view(member.key()));
    event += ':';
    write_json(event, member.value());
  }
  event += '}';
  others_.push_back(event);
  return event;
}

void RunLog::take_back_other() {
  entries_.pop_back();
  others_.pop_back();
}

std::vector<std::string> RunLog::events_after(std::int64_t after) const {
  std::vector<std::string> events;
  std::size_t text_at = 0;
  std::size_t reasoning_at = 0;
  std::size_t other_at = 0;
  for (std::int64_t number = 1; const auto& entry : entries_) {
    const bool wanted = number > after;
    switch (entry.kind) {
      case Kind::text:
        if (wanted) {
          events.push_back(render(number, text_delta, "delta", std::string_view(text_).substr(text_at, entry.size)));
        }
        text_at += entry.size;
        break;
      case Kind::reasoning:
        if (wanted) {
          events.push_back(
              render(number, reasoning_delta, "delta", std::string_view(reasoning_).substr(reasoning_at, entry.size)));
        }
        reasoning_at += entry.size;
        break;
      case Kind::other:
        if (wanted) events.push_back(others_[other_at]);
        ++other_at;
        break;
    }
    ++number;
  }
  return events;
}

std::string RunLog::pack() const {
  json::array entries;
  entries.reserve(2 * entries_.size());
  for (const auto& entry : entries_) {
    entries.emplace_back(static_cast<int>(entry.kind));
    entries.emplace_back(entry.size);
  }
  json::array others(others_.begin(), others_.end());
  return to_json(json::object{
      {"text", text_}, {"reasoning", reasoning_}, {"entries", std::move(entries)}, {"others", std::move(others)}});
}

std::optional<RunLog> RunLog::unpack(const Run& run, std::string_view packed) {
  const auto value = parse_json(packed);
  if (!value || !value->is_object()) return std::nullopt;
  const auto& object = value->get_object();
  RunLog log(run);
  log.text_ = string_member(object, "text").value_or("");
  log.reasoning_ = string_member(object, "reasoning").value_or("");
  const auto& entries = object.at("entries").as_array();
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    log.entries_.push_back({static_cast<Kind>(entries[i].to_number<int>()), entries[i + 1].to_number<std::uint32_t>()});
  }
  for (const auto& event : object.at("others").as_array()) log.others_.emplace_back(event.as_string());
  return log;
}

}  // namespace agw

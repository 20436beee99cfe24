#include "features/runs/run_log.hpp"

#include <limits>
#include <utility>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"

namespace agw {

namespace {

constexpr std::string_view text_delta = "text-delta";
constexpr std::string_view reasoning_delta = "reasoning-delta";

/// Appends to a text. Once it is long, reserves space for a very long one, because each reallocation copies it on the
/// loop. Unused pages take no memory.
void append_growing(std::string& text, std::string_view delta) {
  constexpr std::size_t long_text = 1024UL * 1024;
  constexpr std::size_t growth = 64;
  if (text.capacity() > long_text && text.capacity() - text.size() < delta.size())
    text.reserve(text.capacity() * growth + delta.size());
  text += delta;
}

}  // namespace

RunLog::RunLog(const Run& run) {
  // Ten minutes of an answer are ten thousands of events.
  static_assert(sizeof(Entry) <= 2 * sizeof(std::uint32_t));
  thread_id_ = ",\"threadId\":";
  write_json(thread_id_, std::string_view(run.thread_id));
  turn_id_ = ",\"turnId\":";
  write_json(turn_id_, std::string_view(run.turn_id));
  run_id_ = ",\"runId\":";
  write_json(run_id_, std::string_view(run.id));
}

std::string RunLog::head(std::int64_t seq, std::string_view type, TurnId turn_id) const {
  AGW_ASSERT(seq > 0);
  AGW_ASSERT(!type.empty());
  std::string event;
  event.reserve(thread_id_.size() + turn_id_.size() + run_id_.size() + type.size() + 64);
  event += "{\"type\":\"";
  event += type;
  event += '"';
  event += thread_id_;
  if (turn_id == TurnId::of_run) event += turn_id_;
  event += run_id_;
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
  AGW_ASSERT(delta.size() <= std::numeric_limits<decltype(Entry::size)>::max());
  append_growing(text_, delta);
  entries_.push_back({Kind::text, static_cast<std::uint32_t>(delta.size())});
  return render(seq(), text_delta, "delta", delta);
}

std::string RunLog::reasoning(std::string_view delta) {
  AGW_ASSERT(delta.size() <= std::numeric_limits<decltype(Entry::size)>::max());
  append_growing(reasoning_, delta);
  entries_.push_back({Kind::reasoning, static_cast<std::uint32_t>(delta.size())});
  return render(seq(), reasoning_delta, "delta", delta);
}

std::string RunLog::other(std::string_view type, const json::object& members) {
  // Those are rendered from the texts, not from `others_`.
  AGW_ASSERT(type != text_delta);
  AGW_ASSERT(type != reasoning_delta);
  // A second member of the same name would make the event ambiguous.
  AGW_DEBUG_ASSERT(!members.contains("seq"));
  AGW_DEBUG_ASSERT(!members.contains("runId"));
  AGW_DEBUG_ASSERT(!members.contains("threadId"));
  entries_.push_back({Kind::other, 0});
  auto event = head(seq(), type, members.contains("turnId") ? TurnId::of_event : TurnId::of_run);
  for (const auto& member : members) {
    event += ',';
    write_json(event, std::string_view(member.key()));
    event += ':';
    write_json(event, member.value());
  }
  event += '}';
  others_.push_back(event);
  AGW_ASSERT(others_.size() <= entries_.size());
  return event;
}

void RunLog::take_back_other() {
  AGW_ASSERT(!entries_.empty());
  AGW_ASSERT(entries_.back().kind == Kind::other);
  AGW_ASSERT(!others_.empty());
  entries_.pop_back();
  others_.pop_back();
}

std::vector<std::string> RunLog::events_after(std::int64_t after, std::int64_t last) const {
  AGW_ASSERT(last <= seq());
  std::vector<std::string> events;
  std::size_t text_at = 0;
  std::size_t reasoning_at = 0;
  std::size_t other_at = 0;
  for (std::int64_t number = 1; const auto& entry : entries_) {
    const bool wanted = number > after && number <= last;
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

json::object RunLog::packed(std::int64_t after, std::int64_t last) const {
  AGW_ASSERT(after >= 0);
  AGW_ASSERT(after <= last);
  AGW_ASSERT(last <= seq());
  json::array entries;
  json::array others;
  std::string reasoning;
  std::size_t reasoning_at = 0;
  std::size_t other_at = 0;
  for (std::int64_t number = 1; number <= last; ++number) {
    const auto& entry = entries_[static_cast<std::size_t>(number - 1)];
    const bool wanted = number > after;
    if (wanted) {
      entries.emplace_back(static_cast<int>(entry.kind));
      entries.emplace_back(entry.size);
    }
    if (entry.kind == Kind::reasoning) {
      if (wanted) reasoning.append(reasoning_, reasoning_at, entry.size);
      reasoning_at += entry.size;
    } else if (entry.kind == Kind::other) {
      if (wanted) others.emplace_back(others_[other_at]);
      ++other_at;
    }
  }
  // `add` reads pairs: a kind and a size.
  AGW_ASSERT(std::cmp_equal(entries.size(), 2 * (last - after)));
  AGW_ASSERT(std::cmp_less_equal(others.size(), last - after));
  AGW_ASSERT(other_at <= others_.size());
  return {{"reasoning", std::move(reasoning)}, {"entries", std::move(entries)}, {"others", std::move(others)}};
}

std::string RunLog::pack_events(std::int64_t after, std::int64_t last) const { return to_json(packed(after, last)); }

std::string RunLog::pack() const {
  auto all = pack_events(0, seq());
  AGW_ASSERT(all.ends_with('}'));
  // Writes the text directly, because adding a long answer as a member would copy it.
  all.back() = ',';
  all.reserve(all.size() + text_.size() + text_.size() / 16);
  all += "\"text\":";
  write_json(all, std::string_view(text_));
  all += '}';
  return all;
}

void RunLog::add(const json::object& packed) {
  reasoning_ += string_member(packed, "reasoning").value_or("");
  const auto& entries = packed.at("entries").as_array();
  AGW_DEBUG_ASSERT(entries.size() % 2 == 0);
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    entries_.push_back({static_cast<Kind>(entries[i].to_number<int>()), entries[i + 1].to_number<std::uint32_t>()});
  }
  for (const auto& event : packed.at("others").as_array()) others_.emplace_back(event.as_string());
  AGW_DEBUG_ASSERT(others_.size() <= entries_.size());
}

void RunLog::add_packed(std::string_view new_text, std::string_view events) {
  const auto value = parse_json(events);
  if (value && value->is_object()) {
    text_ += new_text;
    add(value->get_object());
  } else if (!new_text.empty()) {
    text(new_text);
  }
}

std::optional<RunLog> RunLog::unpack(const Run& run, std::string_view packed) {
  const auto value = parse_json(packed);
  if (!value || !value->is_object()) return std::nullopt;
  const auto& object = value->get_object();
  RunLog log(run);
  log.text_ = string_member(object, "text").value_or("");
  log.add(object);
  return log;
}

}  // namespace agw

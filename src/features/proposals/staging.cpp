// Writes a change that an agent proposes to a file.

#include <algorithm>

#include "base/async/assert.hpp"

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/json/yaml.hpp"
#include "base/text/ascii.hpp"
#include "base/time/time_zone.hpp"
#include "features/proposals/files.hpp"
#include "features/proposals/service.hpp"
#include "features/proposals/targets.hpp"

namespace agw {

namespace {

constexpr std::size_t max_staged_title = 200;
constexpr std::size_t max_name_length = 48;
/// In bytes. Fits into the name of a directory.
constexpr std::size_t max_agent_length = 200;
/// Limits a member of the head, so that the head fits into the beginning of a file, which is all that lists read.
constexpr std::size_t max_member_length = 16 << 10;
static_assert(max_staged_length + 4 * max_member_length <= max_proposal_length, "a staged proposal can be read again");
/// More than any person would review.
constexpr std::ptrdiff_t max_pending = 1'000;

/// A short single line without terminal control characters.
std::string title_of(std::string_view wanted) {
  std::string title;
  for (const char c : wanted) {
    if (!is_control(c))
      title += c;
    else if (!title.empty() && title.back() != ' ')
      title += ' ';
  }
  if (title.size() > max_staged_title) title.resize(max_staged_title);
  // Truncation may have split a character, which `to_utf8` replaces.
  return to_utf8(title);
}

/// `Greet people by name!` becomes `greet-people-by-name`.
std::string name_of(std::string_view title) {
  std::string name;
  for (const char c : title) {
    if (is_alphanumeric(c))
      name += to_lower(c);
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  name = name.substr(0, max_name_length);
  while (name.ends_with('-')) name.pop_back();
  AGW_ASSERT(name.size() <= max_name_length);
  AGW_ASSERT(name.empty() || is_proposal_segment(name));
  return name.empty() ? "proposal" : name;
}

std::string segment_of(std::string agent) {
  if (is_proposal_segment(agent) && agent.size() <= max_agent_length) return agent;
  return name_of(agent);
}

json::object head_of(const StagedChange& change, const std::string& agent, const std::optional<TargetPlace>& place,
                     Timestamp now) {
  const auto target = !place ? change.target : place->in_data_directory ? place->relative : place->path().string();
  json::object head{{"title", title_of(change.title)},
                    {"type", change.type},
                    {"agent", agent},
                    {"target", target},
                    {"status", to_text(ProposalStatus::pending)},
                    {"created_at", to_iso8601(now)}};
  if (!change.reason.empty()) head["reason"] = to_utf8(change.reason);
  return head;
}

/// Checks the length of the text as written to YAML, which escapes make longer.
void check_length(std::string_view name, const std::string& text) {
  if (text.size() > max_member_length || json_to_yaml(json::object{{name, to_utf8(text)}}).size() > max_member_length) {
    throw BadRequest(std::string(name) + " is too long");
  }
}

void check(const std::string& agent, const StagedChange& change) {
  if (is_blank(agent)) throw BadRequest("agent is required");
  if (!from_text<ProposalType>(change.type)) throw BadRequest("type must be one of soul, extension, file, knowledge");
  if (is_blank(title_of(change.title))) throw BadRequest("title is required");
  if (is_blank(change.target)) throw BadRequest("target is required");
  check_length("agent", agent);
  check_length("target", change.target);
  check_length("reason", change.reason);
  if (change.content.size() > max_staged_length) throw file_too_large();
  if (!is_utf8(change.content)) throw BadRequest("content must be UTF-8 text");
}

/// Writes the text to a new file, whose name gets a number if it is taken.
ProposalAddress write_new(ProposalFiles& files, ProposalAddress address, const std::string& text) {
  AGW_ASSERT(address.name);
  const auto name = *address.name;
  for (int number = 2; files.has(address); ++number) address.name = name + "-" + std::to_string(number);
  files.write(address, text);
  return address;
}

}  // namespace

Task<std::string> Proposals::stage(std::string agent, std::string run_id, StagedChange change, Targets targets) {
  check(agent, change);
  const auto place = co_await find_place(change.target);
  if (!place && targets == Targets::applicable) {
    throw Forbidden(
        "only changes of the data directory, but not of what is the gateway's own there, and of projects can be "
        "proposed; a person makes a folder a project: POST /projects");
  }
  if (place) {
    co_await disk_.run([&] { check_proposed(*from_text<ProposalType>(change.type), *place, change.content); });
  }

  const auto now = clock_.now();
  auto head = head_of(change, agent, place, now);
  if (const auto made_by = extensions_.find_agent(agent)) head["agent_id"] = made_by->id;
  Current current;
  if (place) current = co_await inspect(*place);
  if (place && current.is_shown) head["made_from"] = id_of(current);
  const auto text = write_proposal_text({std::move(head), std::move(change.content)});
  const ProposalAddress wanted{segment_of(agent), to_iso8601(local_day(now, zone_)), name_of(change.title)};
  // Programs choose their own names, so they share one limit.
  const bool is_program = run_id.empty();
  const auto waiting = std::ranges::count_if(co_await scan(), [&](const auto& listed) {
    const bool counts = is_program || listed->address.agent == wanted.agent;
    return counts && listed->head.status == ProposalStatus::pending;
  });
  if (waiting >= max_pending) throw BadRequest("too many pending proposals: a person has to decide on some first");
  const auto address = co_await disk_.run([files = files_, wanted, text] { return write_new(*files, wanted, text); });
  co_await announce("proposal-created", address, std::move(run_id));
  co_return address.text();
}

}  // namespace agw

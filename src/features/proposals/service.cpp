#include "features/proposals/service.hpp"

#include <algorithm>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "base/log.hpp"
#include "base/text/unified_diff.hpp"
#include "features/proposals/files.hpp"
#include "features/proposals/proposed_extension.hpp"
#include "features/proposals/store.hpp"
#include "features/proposals/targets.hpp"
#include "io/files/resolve_path.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto expiry_check_interval = std::chrono::hours(24);
/// In bytes. No diff is made of longer texts.
constexpr std::size_t max_compared_length = 2 << 20;
/// In bytes. Longer texts are omitted from events: every client gets all events, and is disconnected once 8 MiB are
/// unread.
constexpr std::size_t max_event_text = 1 << 20;

std::string diff_of(const Proposal& proposal, bool is_shown) {
  AGW_ASSERT(proposal.content);
  const auto& target = proposal.target.value_or("target");
  const auto before = proposal.current_content.value_or("");
  if (!is_shown || std::max(before.size(), proposal.content->size()) > max_compared_length) {
    return "Files a/" + target + " and b/" + target + " differ\n";
  }
  return unified_diff(before, *proposal.content, proposal.current_content ? "a/" + target : "/dev/null", "b/" + target);
}

Proposal without_long_texts(Proposal proposal) {
  for (auto* text : {&proposal.content, &proposal.current_content, &proposal.diff}) {
    if (*text && (*text)->size() > max_event_text) text->reset();
  }
  return proposal;
}

bool is_newer(const ListedProposalPointer& left, const ListedProposalPointer& right) {
  if (left->created_at != right->created_at) return left->created_at > right->created_at;
  return left->address < right->address;
}

ProposalEntry entry_of(const ListedProposalPointer& pointer) {
  const auto& listed = *pointer;
  return {.agent = listed.address.agent,
          .date = listed.address.date,
          .name = listed.address.name,
          .title = listed.head.title,
          .type = listed.head.type,
          .target = listed.head.target,
          .created_at = listed.created_at};
}

}  // namespace

Proposals::Proposals(Loop& loop, Database& database, Hub& hub, const Clock& clock, const Projects& projects,
                     Extensions& extensions, Options options)
    : database_(database),
      hub_(hub),
      clock_(clock),
      projects_(projects),
      extensions_(extensions),
      options_(std::move(options)),
      zone_(TimeZone::host()),
      data_directory_(resolve_path(options_.data_directory)),
      files_(std::make_shared<ProposalFiles>(data_directory_)),
      disk_(loop, 1),
      background_(loop),
      listening_(hub, *this) {}

Proposals::~Proposals() = default;

void Proposals::start() {
  AGW_ASSERT(interrupted_.empty());
  AGW_ASSERT(!stopping_.requested());
  background_.spawn(forget_old_ones());
}

Task<> Proposals::stop() {
  stopping_.request();
  co_await background_.join();
}

Task<> Proposals::forget_old_ones() {
  do {
    const auto oldest = clock_.now() - options_.kept;
    try {
      co_await disk_.run([files = files_, oldest, all = co_await scan()] {
        for (const auto& listed : all) {
          const bool is_old = listed->head.decided_at.value_or(listed->written_at) < oldest;
          if (listed->head.status != ProposalStatus::pending && is_old) files->remove(listed->address);
        }
      });
    } catch (const std::exception& error) {
      log::warn("old proposals are kept for another day: {}", error.what());
    }
  } while (co_await pause(stopping_, expiry_check_interval) == WaitResult::done);
}

/// Lists all proposals, and publishes those that appeared since the last scan.
Task<std::vector<ListedProposalPointer>> Proposals::scan() {
  auto seen = co_await disk_.run([files = files_] { return files->scan(); });
  for (auto& address : seen.appeared) co_await announce("proposal-created", std::move(address));
  co_return std::move(seen.all);
}

Task<std::vector<ProposalEntry>> Proposals::pending() {
  auto all = co_await scan();
  // With 50,000 proposals, this takes a tenth of a second.
  co_return co_await disk_.run([all = std::move(all)]() mutable {
    std::erase_if(all, [](const auto& listed) { return listed->head.status != ProposalStatus::pending; });
    std::ranges::sort(all, is_newer);
    std::vector<ProposalEntry> entries(all.size());
    std::ranges::transform(all, entries.begin(), entry_of);
    return entries;
  });
}

Task<Proposals::File> Proposals::require_file(ProposalAddress address) {
  auto file = co_await disk_.run([files = files_, address] { return files->read(address); });
  if (!file) throw proposal_not_found();
  co_return std::make_shared<const ProposalFile>(std::move(*file));
}

Task<Proposals::File> Proposals::require_readable(ProposalAddress address) {
  auto file = co_await require_file(std::move(address));
  if (file->unread == FileError::permission) throw permission_denied();
  if (file->unread) throw file_too_large();
  co_return file;
}

Task<> Proposals::check_exists(ProposalAddress address) { co_await require_file(std::move(address)); }

Task<std::optional<TargetPlace>> Proposals::find_place(std::string target) {
  TargetRoots roots{data_directory_, {}};
  for (const auto& project : projects_.list()) roots.projects.emplace_back(project->path);
  co_return co_await disk_.run([target = std::move(target), roots] { return find_target(target, roots); });
}

Task<Proposals::Current> Proposals::inspect(TargetPlace place) {
  if (const auto extension = extension_of_target(place); extension && !extension->type) {
    // A file without a record is a remnant of a deleted extension.
    const auto record = record_of_target(extensions_, *extension);
    if (!record) co_return Current{};
    co_return Current{.text = text_of_extension(*record), .changed_at = record->updated_at};
  }
  co_return co_await disk_.run([place] {
    Current current;
    auto read = read_target(place, max_proposal_length);
    if (read) {
      current.is_shown = is_utf8(*read);
      current.text = std::move(*read);
    } else if (read.error() == FileError::too_large || read.error() == FileError::permission) {
      current.is_shown = false;
    }
    current.changed_at = target_changed_at(place);
    return current;
  });
}

std::string Proposals::id_of(const Current& current) {
  return current.text ? content_id(*current.text) : std::string();
}

bool Proposals::has_changed(const ProposalFile& file, const Current& current) {
  AGW_ASSERT(!file.unread);
  if (file.head.status != ProposalStatus::pending || current.text == file.text.content) return false;
  // A proposal that a person wrote has no content id, so the times are compared.
  if (!file.head.made_from) return current.changed_at > file.written_at;
  return !current.is_shown || id_of(current) != *file.head.made_from;
}

Task<Proposal> Proposals::require(ProposalAddress address) {
  const auto file = co_await require_readable(address);
  Proposal shown{.agent = address.agent,
                 .date = address.date,
                 .name = address.name,
                 .title = file->head.title,
                 .type = file->head.type,
                 .status = file->head.status,
                 .target = file->head.target,
                 .reason = file->head.reason,
                 .created_at = file->created_at};
  // The content of targets that proposals may not change is not shown.
  const auto place = shown.target ? co_await find_place(*shown.target) : std::nullopt;
  Current current;
  if (place) current = co_await inspect(*place);
  co_return co_await disk_.run([&] {
    shown.content = to_utf8(file->text.content);
    shown.target_changed = place && has_changed(*file, current);
    if (current.is_shown) shown.current_content = std::move(current.text);
    shown.diff = diff_of(shown, current.is_shown);
    return std::move(shown);
  });
}

Task<> Proposals::announce(std::string_view type, ProposalAddress address, std::string run_id) {
  AGW_ASSERT(type == "proposal-created" || type == "proposal-decided");
  try {
    if (!hub_.awaited("proposal.")) co_return;
    const auto proposal = without_long_texts(co_await require(address));
    const auto what = type == "proposal-created" ? "created" : to_text(proposal.status);
    hub_.publish({.name = fmt::format("proposal.{}", what),
                  .type = type,
                  .member = "proposal",
                  .record = proposal,
                  .cause = {.run_id = std::move(run_id)}});
  } catch (const std::exception& error) {
    log::warn("{} of {} could not be published: {}", type, address.text(), error.what());
  }
}

}  // namespace agw

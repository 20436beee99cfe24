// How edits on disk reach the records: files that people wrote, edited or moved into place become the record.

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/log.hpp"
#include "features/extensions/built_ins.hpp"
#include "features/extensions/extension_text.hpp"
#include "features/extensions/registry.hpp"
#include "features/extensions/service.hpp"
#include "features/extensions/writing.hpp"
#include "storage/start_write.hpp"

namespace agw {

namespace {

/// The result of updating records from the findings.
struct TakenOver {
  ExtensionWrites writes;
  std::vector<TakenDirectory> accepted;  ///< those whose record now matches their files
  std::vector<std::string> warnings;
};

/// Keeps only the members that differ, so that `enabled` of a built-in can be changed in its file, although other
/// members cannot.
ExtensionChange without_unchanged(ExtensionChange change, const Extension& current) {
  if (change.description == current.description) change.description.reset();
  if (change.enabled == current.enabled) change.enabled.reset();
  if (change.definition && change.definition->members() == current.definition.members()) change.definition.reset();
  const auto& trigger = change.trigger.value;
  const bool same_trigger = trigger && current.trigger_def ? trigger->members() == current.trigger_def->members()
                                                           : !trigger && !current.trigger_def;
  if (same_trigger) change.trigger = {};
  return change;
}

/// No value if the record was changed after the directories were compared: the newest write wins.
std::optional<ExtensionWrites> write_taken(Connection& connection, const TakenDirectory& taken, Timestamp now) {
  if (const auto* wanted = std::get_if<NewExtension>(&taken.wanted)) {
    const auto named = extension_store::find_named(connection, wanted->name);
    if (named && named->extension.type == wanted->type) return std::nullopt;
    return write_new(connection, new_extension(taken.id, *wanted, now));
  }
  AGW_ASSERT(taken.record);
  AGW_ASSERT(taken.record->id == taken.id);
  const auto row = extension_store::find(connection, taken.id);
  if (!row || row->extension.updated_at != taken.record->updated_at) return std::nullopt;
  const auto change = without_unchanged(std::get<ExtensionChange>(taken.wanted), row->extension);
  return write_change(connection, *row, change, now, ExtensionOutbox::Rewrite::when_changed);
}

void take_over(Connection& connection, const TakenDirectory& taken, Timestamp now, TakenOver& result) {
  try {
    auto writes = write_taken(connection, taken, now);
    if (!writes) return;
    // The files already match the record, so nothing is to be written.
    writes->steps.clear();
    ExtensionOutbox::record_known(connection, taken.id, taken.known);
    result.writes.add(std::move(*writes));
    AGW_ASSERT(writes->records.size() <= 1);
    result.accepted.push_back(taken);
  } catch (const ApiError& error) {
    result.warnings.push_back(fmt::format("{}: {}", config_path(taken.path), error.error()));
  }
}

TakenOver take_over(Connection& connection, const DirectoryFindings& findings, Timestamp now) {
  TakenOver result;
  for (const auto& taken : findings.taken) take_over(connection, taken, now, result);
  for (const auto& record : findings.missing) {
    const auto row = extension_store::find(connection, record->id);
    if (row) result.writes.add({{}, ExtensionOutbox::record_steps(connection, nullptr, &row->extension)});
  }
  return result;
}

bool is_empty(const DirectoryFindings& findings) { return findings.taken.empty() && findings.missing.empty(); }

}  // namespace

std::vector<ExtensionPointer> Extensions::file_backed() const {
  std::vector<ExtensionPointer> records;
  for (const auto type : file_backed_types) append(records, registry_->list({.type = type}));
  return records;
}

void Extensions::take_over_directories(Connection& connection) {
  AGW_ASSERT(outbox_);
  outbox_->load(connection);
  const auto findings = outbox_->compare_at_start(connection, file_backed());
  for (const auto& warning : findings.warnings) log::warn("{}", warning);
  if (is_empty(findings)) return;
  TakenOver result;
  const bool written = write_at_start(connection, "taking over edits in directories of extensions",
                                      [&] { result = take_over(connection, findings, clock_.now()); });
  if (!written) return;
  for (const auto& warning : result.warnings) log::warn("{}", warning);
  for (auto& write : result.writes.records) registry_->put(write.row.position, std::move(write.row.extension));
  for (const auto& taken : result.accepted) outbox_->accept_at_start(taken.id, taken.path, taken.known);
  outbox_->execute_at_start(connection, result.writes.steps);
}

Task<std::vector<std::string>> Extensions::reseed() {
  const auto now = clock_.now();
  auto shipped = co_await database_.read([now](Connection&) { return built_ins(now); });
  co_await publish(co_await database_.write(
      [shipped = std::move(shipped)](Connection& connection) { return write_built_ins(connection, shipped); }));
  if (!outbox_) co_return std::vector<std::string>{};

  if (shares_files()) {
    co_await outbox_->have_compared();
    co_return std::vector<std::string>{};
  }
  auto findings = co_await outbox_->compare(file_backed());
  auto warnings = findings.warnings;
  std::ranges::move(co_await take_over_findings(std::move(findings)), std::back_inserter(warnings));
  co_return warnings;
}

void Extensions::lead() {
  if (shares_files()) outbox_->lead([this] { return take_over_edits(); });
}

Task<> Extensions::follow_recorded_steps(std::vector<std::string>) {
  if (shares_files()) outbox_->follow_recorded();
  co_return;
}

Task<> Extensions::follow_executed_steps(std::vector<std::string> keys) {
  if (shares_files()) outbox_->follow(keys);
  co_return;
}

/// Logs warnings only if they differ from those of the last comparison.
Task<> Extensions::take_over_edits() {
  AGW_ASSERT(shares_files());
  auto findings = co_await outbox_->compare(file_backed(), ExtensionDirectories::At::stamps);
  auto warnings = findings.warnings;
  std::ranges::move(co_await take_over_findings(std::move(findings)), std::back_inserter(warnings));
  if (warnings == std::exchange(warnings_, warnings)) co_return;
  for (const auto& warning : warnings) log::warn("{}", warning);
}

Task<> Extensions::take_over_edit(std::string id) {
  const auto record = find(id);
  if (!outbox_ || !record || !is_file_backed(record->type)) co_return;
  auto findings = co_await outbox_->edit_of(record);
  auto warnings = findings.warnings;
  std::ranges::move(co_await take_over_findings(std::move(findings)), std::back_inserter(warnings));
  for (const auto& warning : warnings) log::warn("{}", warning);
}

/// Returns which files cannot become their record, and why.
Task<std::vector<std::string>> Extensions::take_over_findings(DirectoryFindings findings) {
  if (is_empty(findings)) co_return std::vector<std::string>{};
  auto result = co_await database_.write([findings = std::move(findings), now = clock_.now()](Connection& connection) {
    return take_over(connection, findings, now);
  });
  co_await publish(std::move(result.writes));
  for (auto& taken : result.accepted) co_await outbox_->accept(taken.id, taken.path, taken.known);
  co_return std::move(result.warnings);
}

}  // namespace agw

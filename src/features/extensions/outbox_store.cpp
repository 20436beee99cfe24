#include "features/extensions/outbox_store.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/async/assert.hpp"

namespace agw::outbox_store {

namespace {

constexpr std::string_view write_action = "write";
constexpr std::string_view move_action = "move";

std::string stamp_text(const FileStamp& stamp) {
  return fmt::format("{} {} {} {}", stamp.inode, stamp.size, stamp.modified_ns, stamp.changed_ns);
}

template <class Number>
void read_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(std::min(text.size(), static_cast<std::size_t>(end - text.data()) + 1));
}

FileStamp read_stamp(std::string_view text) {
  FileStamp stamp;
  read_number(text, stamp.inode);
  read_number(text, stamp.size);
  read_number(text, stamp.modified_ns);
  read_number(text, stamp.changed_ns);
  return stamp;
}

DiskStep read_step(const Statement& row) {
  DiskStep step;
  step.sequence = row.integer(0);
  step.extension_id = row.text(1);
  step.action = row.text(2) == write_action ? DiskStep::Action::write : DiskStep::Action::move;
  step.directory = row.text(3);
  step.target = row.text(4);
  step.inode = static_cast<std::uint64_t>(row.integer(5));
  if (!row.is_null(6)) step.text = {row.string(6), row.optional_string(7), row.boolean(8)};
  step.config_id = row.text(9);
  step.prompt_id = row.text(10);
  AGW_DEBUG_ASSERT(step.sequence > 0);
  AGW_DEBUG_ASSERT((step.action == DiskStep::Action::write) == step.target.empty());
  return step;
}

/// `more_columns` is SQL that updates more columns if the row exists.
void put_known(Connection& connection, std::string_view extension_id, const KnownDirectory& directory,
               std::string_view more_columns) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!extension_id.empty());
  connection
      .prepare(fmt::format(
          "INSERT INTO extension_directories (extension_id, inode, config_id, config_stamp, prompt_id, prompt_stamp) "
          "SELECT :id, :inode, :config_id, :config_stamp, :prompt_id, :prompt_stamp FROM extensions WHERE id = :id "
          "ON CONFLICT ({}) DO UPDATE SET inode = :inode{}",
          connection.is_postgres() ? "extension_id, node" : "extension_id", more_columns))
      .bind(":id", extension_id)
      .bind(":inode", directory.inode)
      .bind(":config_id", directory.config.content_id)
      .bind(":config_stamp", stamp_text(directory.config.stamp))
      .bind(":prompt_id", directory.prompt.content_id)
      .bind(":prompt_stamp", stamp_text(directory.prompt.stamp))
      .run();
  AGW_DEBUG_ASSERT(connection.changes() <= 1);
}

}  // namespace

void add(Connection& connection, DiskStep& step) {
  const bool is_write = step.action == DiskStep::Action::write;
  // The step and the change of its record are in one transaction.
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(step.sequence == 0);
  AGW_ASSERT(!step.extension_id.empty());
  AGW_ASSERT(!step.directory.empty());
  AGW_ASSERT(is_write == step.text.has_value());
  AGW_ASSERT(is_write == step.target.empty());
  AGW_ASSERT(step.directory != step.target);
  if (is_write) {
    connection
        .prepare(Sql{.sqlite = "UPDATE extension_outbox SET config = NULL, prompt = NULL WHERE extension_id = :id",
                     .postgres =
                         "UPDATE extension_outbox SET config = NULL, prompt = NULL WHERE extension_id = :id AND "
                         "has_files_of(node)"})
        .bind(":id", step.extension_id)
        .run();
  }
  std::optional<std::string_view> config;
  if (step.text) config = step.text->config;
  auto insert = connection.prepare(
      "INSERT INTO extension_outbox (extension_id, action, directory, target, inode, config, prompt, owns_prompt, "
      "config_id, prompt_id) VALUES (:extension_id, :action, :directory, :target, :inode, :config, :prompt, "
      ":owns_prompt, :config_id, :prompt_id) RETURNING sequence");
  insert.bind(":extension_id", step.extension_id)
      .bind(":action", is_write ? write_action : move_action)
      .bind(":directory", step.directory)
      .bind(":target", is_write ? std::nullopt : std::optional(step.target))
      .bind(":inode", step.inode)
      .bind(":config", config)
      .bind(":prompt", step.text ? step.text->prompt : std::nullopt)
      .bind(":owns_prompt", step.text && step.text->owns_prompt)
      .bind(":config_id", step.config_id)
      .bind(":prompt_id", step.prompt_id)
      .step();
  step.sequence = insert.integer(0);
  AGW_ASSERT(step.sequence > 0);
}

void forget(Connection& connection, std::string_view extension_id) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!extension_id.empty());
  connection
      .prepare(Sql{.sqlite = "DELETE FROM extension_outbox WHERE extension_id = :id AND action = 'write'",
                   .postgres = "DELETE FROM extension_outbox WHERE extension_id = :id AND action = 'write' AND "
                               "has_files_of(node)"})
      .bind(":id", extension_id)
      .run();
  connection
      .prepare(Sql{.sqlite = "DELETE FROM extension_directories WHERE extension_id = :id",
                   .postgres = "DELETE FROM extension_directories WHERE extension_id = :id AND has_files_of(node)"})
      .bind(":id", extension_id)
      .run();
}

std::vector<DiskStep> steps(Connection& connection) {
  std::vector<DiskStep> steps;
  auto row = connection.prepare(
      Sql{.sqlite = "SELECT sequence, extension_id, action, directory, target, inode, config, prompt, owns_prompt, "
                    "config_id, prompt_id FROM extension_outbox ORDER BY sequence",
          .postgres = "SELECT sequence, extension_id, action, directory, target, inode, config, prompt, owns_prompt, "
                      "config_id, prompt_id FROM extension_outbox WHERE has_files_of(node) ORDER BY sequence"});
  while (row.step()) steps.push_back(read_step(row));
  return steps;
}

void remove(Connection& connection, std::int64_t sequence) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(sequence > 0);
  connection.prepare("DELETE FROM extension_outbox WHERE sequence = :sequence").bind(":sequence", sequence).run();
}

void notify(Connection& connection, std::string_view key) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!key.empty());
  connection.prepare("SELECT tell_nodes('extension_steps', :key)").bind(":key", key).step();
}

void take_over_own(Connection& connection) {
  AGW_ASSERT(connection.is_postgres());
  AGW_ASSERT(connection.in_transaction());
  auto known = connection.prepare("SELECT EXISTS (SELECT FROM extension_directories WHERE node = files_node())");
  known.step();
  if (known.boolean(0)) return;
  connection.execute("UPDATE extension_directories SET node = files_node() WHERE node = this_node()");
  connection.execute("UPDATE extension_outbox SET node = files_node() WHERE node = this_node()");
}

void store_known(Connection& connection, std::string_view extension_id, const KnownDirectory& directory) {
  put_known(connection, extension_id, directory,
            ", config_id = :config_id, config_stamp = :config_stamp, prompt_id = :prompt_id, prompt_stamp = "
            ":prompt_stamp");
}

void store_inodes(Connection& connection, const KnownDirectories& directories) {
  for (const auto& [id, directory] : directories) {
    auto unsynced = directory;
    unsynced.config.stamp = unsynced.prompt.stamp = {};
    put_known(connection, id, unsynced, "");
  }
}

void for_each_known(Connection& connection, const std::function<void(std::string id, KnownDirectory known)>& each) {
  auto row =
      connection.prepare(Sql{.sqlite = "SELECT extension_id, inode, config_id, config_stamp, prompt_id, prompt_stamp "
                                       "FROM extension_directories",
                             .postgres = "SELECT extension_id, inode, config_id, config_stamp, prompt_id, prompt_stamp "
                                         "FROM extension_directories WHERE has_files_of(node)"});
  while (row.step()) {
    each(row.string(0), {static_cast<std::uint64_t>(row.integer(1)),
                         {row.string(2), read_stamp(row.text(3))},
                         {row.string(4), read_stamp(row.text(5))}});
  }
}

std::uint64_t known_inode(Connection& connection, std::string_view extension_id) {
  auto row = connection.prepare(
      Sql{.sqlite = "SELECT inode FROM extension_directories WHERE extension_id = :id",
          .postgres = "SELECT inode FROM extension_directories WHERE extension_id = :id AND has_files_of(node)"});
  return row.bind(":id", extension_id).step() ? static_cast<std::uint64_t>(row.integer(0)) : 0;
}

}  // namespace agw::outbox_store

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json.hpp"
#include "base/time/time.hpp"
#include "cli/client/find_gateway.hpp"
#include "cli/output/progress.hpp"
#include "cli/transfer/source_files.hpp"
#include "features/threads/transfer_types.hpp"

namespace agw::cli {

/// Replaces a value that is not a valid time.
inline constexpr Timestamp no_time = Timestamp::max();

/// The number of imported things of one kind.
struct ImportCount {
  std::uint64_t created = 0;
  std::uint64_t kept = 0;  ///< existed already
};

/// Something that was not imported, and the reason.
struct LeftOut {
  std::string what;
  std::string why;
};

/// The result for an extension from this program's own export. An enabled extension follows its files immediately.
enum class OwnExtension { left_out, disabled, enabled };

/// Receives the things found by a reader and creates them in the gateway. Records from an earlier import are recognised
/// and not changed, so an interrupted import can simply be repeated. A dry run only counts. Threads are sent in
/// batches; the next batch is collected while one is sent, so memory is bounded. Extensions are created disabled.
/// Blocks, so do not use it on the loop.
class Importer {
public:
  /// `source` is the name of the program, and `root` its directory or file. `gateway` must outlive this object; a dry
  /// run uses it only to look up existing records, and works without it (null).
  Importer(std::string source, std::filesystem::path root, const FoundGateway* gateway, bool with_keys, bool dry_run);
  ~Importer();

  const std::string& source() const { return source_; }
  const std::filesystem::path& root() const { return root_; }
  bool with_keys() const { return with_keys_; }

  // Threads: call `begin_thread`, add its turns in order, then begin the next thread or call `finish`.

  /// `head` has no turns. `project` is the directory of the conversation; it becomes a project if it is one already or
  /// can be one. Times before 1970 or in the future, and `no_time`, are dropped, also in turns, with a note.
  void begin_thread(ImportedThread head, const std::optional<std::filesystem::path>& project = {});
  void add_turn(ImportedTurn turn);

  // Threads of earlier imports.

  /// The thread's id here.
  std::string thread_id(const std::string& key) const;
  using IsTurn = std::function<bool(const std::string& id)>;
  /// The newest turn of a thread that `is_wanted` accepts. Returns nullopt if there is no such turn or thread, and in a
  /// dry run.
  std::optional<std::string> newest_turn(const std::string& thread_id, const IsTurn& is_wanted) const;
  /// Whether there was such a thread when this was first asked.
  bool has_thread(const std::string& id);

  /// `body` is that of `POST /extensions`; `origin` identifies it within its source. An invalid name is converted; a
  /// name that is in use gets the source's name as a suffix. Both are reported. Returns the name of the extension here,
  /// even if it is left out.
  std::string add_extension(json::object body, const std::string& origin);
  /// Adds an extension from this program's own export under its name. An existing one is kept; a different extension
  /// with its name is reported.
  OwnExtension add_own_extension(json::object body);
  /// Makes a directory a project with this name, if possible.
  void add_project(const std::filesystem::path& directory, const std::string& name) { project_id(directory, name); }
  /// The name here of an agent in this import.
  std::optional<std::string> agent_here(const std::string& name) const;
  /// The name here of another program's model; nullopt if there is no such model, or several. Asks the gateway once.
  std::optional<std::string> model_here(const std::string& model);
  /// Maps the other program's models `<name>/…` to those of the integration `name_here`.
  void add_model_service(const std::string& name, const std::string& name_here) { services_[name] = name_here; }
  /// Adds a file for one agent or, without `agent`, for all: `soul` or `user-profile`. Never replaces one that has
  /// content.
  void add_identity(const std::string& kind, const std::optional<std::string>& agent, const std::string& content,
                    const std::string& origin);
  /// Adds a file in the data directory, such as a skill's or a knowledge page. Never replaces one.
  void add_file(const std::string& kind, const std::filesystem::path& path, const std::string& content,
                const std::string& origin, mode_t mode = 0600);
  /// Whether the data directory has such a file.
  bool has_file(const std::filesystem::path& path) const;
  /// Imports a file of a message. `key` identifies it within its source; in an own export it is the file's id. Returns
  /// the description for the metadata of a turn; nullopt for an empty file or one over 20 MiB, which are left out.
  std::optional<json::object> add_attachment(const std::string& key, SourceFile file);
  /// Returns the replacement for the value in a definition: `${secret:NAME}`. Stores the value only with `--with-keys`,
  /// and never replaces another one, which is reported instead. An empty value means that the other program stores it
  /// elsewhere.
  std::string add_secret(const std::string& variable, const std::string& value);

  void leave(std::string what, std::string why);
  /// For many things of one kind, which are reported together, as their number followed by `kind`.
  void leave_one_of(std::string kind, std::string why) { ++left_kinds_[{std::move(kind), std::move(why)}]; }
  /// Reports a thing that is imported but differs from its source.
  void note(std::string text) { notes_.push_back(std::move(text)); }
  void show_progress(const std::string& what, std::uint64_t done, std::uint64_t total);

  /// Sends the rest.
  void finish();

  const std::map<std::string, ImportCount>& counts() const { return counts_; }
  const std::vector<LeftOut>& left_out() const { return left_out_; }
  std::uint64_t left_out_count() const { return left_out_count_; }
  const std::vector<std::string>& notes() const { return notes_; }

private:
  struct Sent {
    ImportResult result;
    std::vector<LeftOut> refused;
  };
  struct RefusedTurns {
    std::size_t count = 0;
    std::string key;  ///< of the first turn left out
    std::string why;  ///< common to all

    void add(const std::string& turn, const std::string& reason) {
      if (count++ == 0) key = turn, why = reason;
    }
  };
  static Sent send(const FoundGateway& gateway, ImportBatch batch);
  static void send_thread(const FoundGateway& gateway, ImportBatch one, ImportResult& result, RefusedTurns& refused);
  void check_time(std::optional<Timestamp>& time);
  void flush();
  void await_batch();
  void take(Sent sent);
  std::optional<std::string> project_id(const std::filesystem::path& directory, const std::string& name);
  void load_projects();
  std::string made_project(const std::string& name, const std::string& path);
  std::string counted_project(const std::string& path);
  json::value request(const std::string& method, const std::string& path, const json::value& body = nullptr) const;
  struct Place {
    std::string name;
    bool is_there;
  };
  /// Where an extension with this mark exists or can be created; nullopt if too many names are taken.
  std::optional<Place> place_of(const std::string& base, const std::string& mark);
  void load_models();
  std::string secret_name(const std::string& variable, const std::string& value);
  std::string free_secret_name(const std::string& base) const;
  std::optional<json::object> find_extension(const std::string& name) const;

  std::string source_;
  std::filesystem::path root_;
  const FoundGateway* gateway_;
  bool with_keys_;
  bool writes_;
  Progress progress_;
  ImportBatch batch_;
  std::size_t batch_bytes_ = 0;
  std::size_t batch_turns_ = 0;
  std::future<Sent> sending_;
  std::optional<std::map<std::string, std::string>> projects_;  ///< ids by path; empty if the path cannot be a project
  std::set<std::string> used_;                                  ///< names of this import's extensions
  std::map<std::string, std::string> services_;                 ///< names here, by the other program's names
  std::map<std::string, std::string> agents_;                   ///< likewise
  std::optional<std::set<std::string>> models_;                 ///< the gateway's models
  std::map<std::string, std::pair<std::string, std::string>> secrets_;  ///< variable and value, by the name here
  std::set<std::string> seen_threads_;
  std::optional<std::set<std::string>> threads_;  ///< ids of those in the gateway
  std::map<std::string, ImportCount> counts_;
  std::vector<LeftOut> left_out_;
  std::uint64_t left_out_count_ = 0;
  std::map<std::pair<std::string, std::string>, std::uint64_t> left_kinds_;  ///< by kind and reason
  std::uint64_t impossible_times_ = 0;
  std::vector<std::string> notes_;
};

/// `text` as an extension's name: kebab-case, at most 64 characters; `otherwise` if nothing is left.
/// Example: src/cli/transfer/importer_test.cpp: ExtensionNames.AreMadeFromAnyText
std::string extension_name_from(std::string_view text, std::string_view otherwise);

}  // namespace agw::cli

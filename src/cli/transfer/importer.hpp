#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
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

/// A value in place of a time that is not a time, or not one in the calendar.
inline constexpr Timestamp no_time = Timestamp::max();

/// How many things of one kind an import brought.
struct ImportCount {
  std::uint64_t created = 0;
  std::uint64_t kept = 0;  ///< were there already
};

/// Something that was not taken, and why.
struct LeftOut {
  std::string what;
  std::string why;
};

/// The result for an extension from our own export. An enabled extension follows its files immediately.
enum class OwnExtension { left_out, disabled, enabled };

/// Takes what a reader finds and creates it in the gateway. Records that an earlier import created are recognized and
/// left as they are, so an import that was interrupted is simply done again. A dry run only counts. Threads go in
/// batches, of which one is being sent while the next is collected, so memory is bounded. Extensions are created
/// disabled. Blocks: not for the loop.
class Importer {
public:
  /// `source` names the program, and `root` is its directory, or its file. `gateway` must outlive this; a dry run asks
  /// it what is there, and may go without (null).
  Importer(std::string source, std::filesystem::path root, const FoundGateway* gateway, bool with_keys, bool dry_run);
  ~Importer();

  const std::string& source() const { return source_; }
  const std::filesystem::path& root() const { return root_; }
  bool with_keys() const { return with_keys_; }

  // Threads: `begin_thread`, its turns in order, then the next thread or `finish`.

  /// `head` has no turns. `project` is the directory in which the conversation took place; it becomes a project if it
  /// is one already or can be one. Times before 1970 or in the future, and `no_time`, are dropped, and so for turns;
  /// that is noted.
  void begin_thread(ImportedThread head, const std::optional<std::filesystem::path>& project = {});
  void add_turn(ImportedTurn turn);

  /// `body` is that of `POST /extensions`; `origin` identifies it within its source. A name that is no extension's name
  /// is mapped; a name that something else has is followed by the source's. Both are reported. Returns the name that
  /// the extension has here, or would have if it were not left out.
  std::string add_extension(json::object body, const std::string& origin);
  /// An extension of this program's own export, by its name. One that is there stays; another of its name is reported.
  OwnExtension add_own_extension(json::object body);
  /// A directory that becomes a project with this name, if it can be one.
  void add_project(const std::filesystem::path& directory, const std::string& name) { project_id(directory, name); }
  /// The name here of an agent that this import brings.
  std::optional<std::string> agent_here(const std::string& name) const;
  /// The name here of another program's model; none if there is no such model, or several. Asks the gateway once.
  std::optional<std::string> model_here(const std::string& model);
  /// The models `<name>/…` of the other program are those of the integration `name_here`.
  void add_model_service(const std::string& name, const std::string& name_here) { services_[name] = name_here; }
  /// A file that belongs to an agent or to all: `soul` or `user-profile`. Never replaces one that has content. Without
  /// `agent`, it is the shared one.
  void add_identity(const std::string& kind, const std::optional<std::string>& agent, const std::string& content,
                    const std::string& origin);
  /// A file in the data directory, such as a skill's or a knowledge page. Never replaces one.
  void add_file(const std::string& kind, const std::filesystem::path& path, const std::string& content,
                const std::string& origin, mode_t mode = 0600);
  /// Whether there is such a file in the data directory.
  bool has_file(const std::filesystem::path& path) const;
  /// Takes over a file of a message; `key` identifies it within its source; an own export's is its id. Returns what the
  /// metadata of a turn says of it; no value for an empty file and one over 20 MiB, which are left out.
  std::optional<json::object> add_attachment(const std::string& key, SourceFile file);
  /// Returns what stands for the value in a definition: `${secret:NAME}`. Stores the value only with `--with-keys`, and
  /// never in place of another one, which is reported. An empty value is one that the other program keeps elsewhere.
  std::string add_secret(const std::string& variable, const std::string& value);

  void leave(std::string what, std::string why);
  /// For many things of a kind, which are reported together: `kind` follows their number.
  void leave_one_of(std::string kind, std::string why) { ++left_kinds_[{std::move(kind), std::move(why)}]; }
  /// For what comes, but differs from its source.
  void note(std::string text) { notes_.push_back(std::move(text)); }
  void show_progress(const std::string& what, std::uint64_t done, std::uint64_t total);

  /// Sends what is left.
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
    std::string key;  ///< of the first
    std::string why;  ///< the same

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
  /// Where an extension with this mark is or can be; none if too many names are taken.
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
  std::optional<std::map<std::string, std::string>> projects_;          ///< ids by path; empty: cannot be one
  std::set<std::string> planned_;                                       ///< names that a dry run would have given
  std::map<std::string, std::string> services_;                         ///< names here by the other program's
  std::map<std::string, std::string> agents_;                           ///< the same
  std::optional<std::set<std::string>> models_;                         ///< those of the gateway
  std::map<std::string, std::pair<std::string, std::string>> secrets_;  ///< variable and value by the name here
  std::set<std::string> seen_threads_;
  std::map<std::string, ImportCount> counts_;
  std::vector<LeftOut> left_out_;
  std::uint64_t left_out_count_ = 0;
  std::map<std::pair<std::string, std::string>, std::uint64_t> left_kinds_;  ///< by kind and reason
  std::uint64_t impossible_times_ = 0;
  std::vector<std::string> notes_;
};

/// `text` as an extension's name: kebab-case, at most 64 characters; `otherwise` if nothing is left of it.
/// Example: src/cli/transfer/importer_test.cpp: ExtensionNames.AreMadeFromAnyText
std::string extension_name_from(std::string_view text, std::string_view otherwise);

}  // namespace agw::cli

#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "features/proposals/proposal_text.hpp"
#include "io/files/directory.hpp"

namespace agw {

/// In bytes. A larger file is listed, but neither shown nor applied; no request can create one.
inline constexpr std::size_t max_proposal_length = 10 << 20;
/// The maximum content that an agent can stage, in bytes. Leaves room for a head.
inline constexpr std::size_t max_staged_length = 9 << 20;

/// A proposal as stored in its file.
struct ProposalFile {
  ProposalHead head{};
  ProposalText text{};  ///< if the head has a problem, the whole file is the content
  Timestamp written_at{};
  Timestamp created_at{};             ///< from the head, else the file's time
  std::optional<FileError> unread{};  ///< why there is no content: `too_large` or `permission`
};

/// A proposal in a list.
struct ListedProposal {
  ProposalAddress address;
  ProposalHead head;
  Timestamp created_at;  ///< from the head, else the file's time
  Timestamp written_at;
};
using ListedProposalPointer = std::shared_ptr<const ListedProposal>;

/// The files of proposals below `{data_dir}/autoresearch/proposals/`. Caches unchanged files, so a list reads only
/// changed ones. All functions block. Not thread-safe.
class ProposalFiles {
public:
  explicit ProposalFiles(const std::filesystem::path& data_directory);

  /// Lists all proposals, unordered. Pending ones that are new since the last call (in the first call: since this
  /// object was created) are also in `appeared`. Each is reported there once, so the caller must announce it.
  struct Scan {
    std::vector<ListedProposalPointer> all;
    std::vector<ProposalAddress> appeared;
  };
  Scan scan();

  /// No value if there is no such file.
  std::optional<ProposalFile> read(const ProposalAddress& address);
  bool has(const ProposalAddress& address) const;
  /// Creates or replaces the file atomically. The next scan does not report it as new. Throws std::system_error.
  void write(const ProposalAddress& address, const std::string& text);
  /// Returns the new text, or nullopt to leave the file unchanged. `file` is null if the file does not exist.
  using Edit = std::function<std::optional<std::string>(const ProposalFile* file)>;
  /// Changes the file as `edit` says, which is called again if a person saves the file meanwhile. Throws
  /// std::system_error, and what `edit` throws.
  void change(const ProposalAddress& address, const Edit& edit);
  void remove(const ProposalAddress& address);
  /// Keeps the next scan from reporting the proposal as new. Returns whether it would have been reported.
  bool expect(const ProposalAddress& address);

private:
  struct Known {
    FileStamp stamp{};
    bool is_settled = false;  ///< any later change would alter the stamp
    bool is_new = false;      ///< not reported yet
    bool was_found = false;   ///< by the current scan
    ListedProposalPointer listed{};
  };

  bool is_new(const std::string& reference, const FileStamp& stamp) const;
  std::optional<Directory> folder();
  void scan_directory(const Directory& directory, ProposalAddress address);
  void inspect(const Directory& directory, const std::string& file, const ProposalAddress& address);
  Scan take_found();

  Directory root_;
  const std::chrono::nanoseconds made_at_;           ///< since the epoch
  std::map<std::string, Known, std::less<>> known_;  ///< by reference
  bool has_looked_ = false;
};

}  // namespace agw

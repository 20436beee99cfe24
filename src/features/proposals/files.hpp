#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "features/proposals/proposal_text.hpp"
#include "io/beneath.hpp"

namespace agw {

/// A file with more bytes than this is listed, but neither shown nor applied: no request can make one.
inline constexpr std::size_t longest_proposal = 10 << 20;
/// The content of one that an agent stages: there is room for a head.
inline constexpr std::size_t longest_staged = 9 << 20;

/// A proposal as its file has it.
struct ProposalFile {
  ProposalHead head{};
  ProposalText text{};  ///< where the head has a problem, all of the file is the content
  Timestamp written_at{};
  Timestamp created_at{};  ///< the head's, else the file's
  bool is_too_large = false;
};

/// What a list says of one.
struct ListedProposal {
  ProposalAddress address;
  ProposalHead head;
  Timestamp created_at;  ///< the head's, else the file's
  Timestamp written_at;
};

/// The proposals' files beneath `{data_dir}/autoresearch/proposals/`. What a file says is kept in memory for as long as
/// the file stays what it was, so that a list reads only what is new. All of it blocks, and one thread at a time uses
/// it.
class ProposalFiles {
public:
  explicit ProposalFiles(const std::filesystem::path& data_directory);

  /// What is there, in no order; those that wait and are new since the last look, the first time since this was made,
  /// are `appeared` as well. Each is told once: whoever looks announces them.
  struct Look {
    std::vector<ListedProposal> all;
    std::vector<ProposalAddress> appeared;
  };
  Look look();

  /// Nothing where there is no such file.
  std::optional<ProposalFile> read(const ProposalAddress& address);
  bool has(const ProposalAddress& address) const;
  /// Replaces or makes it, in one step: nothing new for the next look. Throws std::system_error.
  void write(const ProposalAddress& address, const std::string& text);
  void remove(const ProposalAddress& address);
  /// What the next look finds there is nothing new. Whether it would have been.
  bool expect(const ProposalAddress& address);

private:
  struct Known {
    FileStamp stamp;
    bool is_settled = false;  ///< a change of the file would show in its stamp
    ProposalHead head;
  };
  using KnownFiles = std::map<std::string, Known, std::less<>>;

  bool is_new(const std::string& reference, const FileStamp& stamp) const;
  std::optional<Directory> folder();
  void look_into(const Directory& directory, ProposalAddress address, KnownFiles& found);
  void look_at(const Directory& directory, const std::string& file, const ProposalAddress& address, KnownFiles& found);

  Directory root_;
  const std::chrono::nanoseconds made_at_;  ///< since the epoch
  KnownFiles known_;
  bool has_looked_ = false;
};

}  // namespace agw

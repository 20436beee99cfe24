#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include "features/research/asset.hpp"
#include "io/blocking.hpp"

namespace agw {

/// What keeps an iteration from going on; its text is the experiment's reason.
class IterationProblem : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The asset of an iteration under way: what it was, what the iteration has made of it, and what only somebody else can
/// have written there. What reads or writes it throws std::runtime_error with a text for people, too.
class AssetUnderWay {
public:
  /// `kept`: see AssetTrace.
  AssetUnderWay(BlockingPool& blocking, std::filesystem::path path, std::filesystem::path kept)
      : blocking_(blocking), path_(std::move(path)), trace_{.kept = std::move(kept)} {}

  const std::filesystem::path& path() const { return path_; }
  Task<AssetCopy> read() const;

  /// Once it is noted in the database, and before anything touches the asset: nothing is put back without it.
  void note_original(AssetCopy original);
  const std::string& original() const { return original_->bytes; }
  /// What was there when it was last noted.
  const std::string& left() const { return trace_.left; }

  /// Something works, or has worked, that may write to it.
  void expect_change() { trace_.may_differ = true; }
  /// Notes what the latest step has left. Throws IterationProblem where only somebody else can have written it.
  Task<> note();
  Task<> replace(std::string text);

  /// Throws IterationProblem where somebody else has changed it: that stays. Then, and once it is put back, it is no
  /// concern of the iteration any more.
  Task<> put_back();

private:
  BlockingPool& blocking_;
  const std::filesystem::path path_;
  std::optional<AssetCopy> original_;
  AssetTrace trace_;
  bool is_put_back_ = false;
};

}  // namespace agw

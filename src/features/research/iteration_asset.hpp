#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/async/assert.hpp"
#include "features/research/asset.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// Ends an iteration early; its text becomes the experiment's reason.
class IterationProblem : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The asset of an active iteration: its original content, the content that the iteration left, and whether somebody
/// else has written to it. Functions that read or write it also throw std::runtime_error with a text for people.
class IterationAsset {
public:
  /// `kept`: see AssetTrace.
  IterationAsset(BlockingPool& blocking, std::filesystem::path path, std::filesystem::path kept)
      : blocking_(blocking), path_(std::move(path)), trace_{.kept = std::move(kept)} {}

  const std::filesystem::path& path() const { return path_; }
  Task<AssetCopy> read() const;

  /// Call it after the original is stored in the database and before anything touches the asset. Nothing is restored
  /// without it.
  void record_original(AssetCopy original);
  const std::string& original() const {
    AGW_ASSERT(original_);
    return original_->bytes;
  }
  /// The content that was last noted.
  const std::string& left() const { return trace_.left; }

  /// Something that may write to the asset is running or has run.
  void expect_change() { trace_.may_differ = true; }
  /// Notes the content that the latest step left. `by_run`: the SHA-256 of what the agent's run left, if that is known.
  /// Throws IterationProblem if only somebody else can have written the content.
  Task<> record(std::optional<std::string> by_run = std::nullopt);
  Task<> replace(std::string text);

  /// Throws IterationProblem if somebody else has changed the asset; their change stays. After that, and after the
  /// asset was restored, the iteration leaves it alone.
  Task<> put_back();

private:
  BlockingPool& blocking_;
  const std::filesystem::path path_;
  std::optional<AssetCopy> original_;
  AssetTrace trace_;
  bool is_put_back_ = false;
};

}  // namespace agw

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

/// The asset of an active iteration: its original content, the content that the iteration left, and whether someone
/// else has written to it. Functions that read or write it also throw std::runtime_error with a message for people.
class IterationAsset {
public:
  /// For `kept`, see AssetTrace.
  IterationAsset(BlockingPool& blocking, std::filesystem::path path, std::filesystem::path kept)
      : blocking_(blocking), path_(std::move(path)), trace_{.kept = std::move(kept)} {}

  const std::filesystem::path& path() const { return path_; }
  Task<AssetCopy> read() const;

  /// Must be called after the original was stored in the database and before anything changes the asset. Without it,
  /// nothing is restored.
  void record_original(AssetCopy original);
  const std::string& original() const {
    AGW_ASSERT(original_);
    return original_->bytes;
  }
  /// The content that was last recorded.
  const std::string& left() const { return trace_.left; }

  /// Must be called if something that may write to the asset is running or has run.
  void expect_change() { trace_.may_differ = true; }
  /// Records the current content as the result of the latest step. `by_run` is the SHA-256 of the content that the
  /// agent's run left, if known. Throws IterationProblem if only someone else can have written the content.
  Task<> record(std::optional<std::string> by_run = std::nullopt);
  Task<> replace(std::string text);

  /// Restores the original. Throws IterationProblem if someone else has changed the asset; that change stays. After
  /// either, later calls do nothing.
  Task<> put_back();

private:
  BlockingPool& blocking_;
  const std::filesystem::path path_;
  std::optional<AssetCopy> original_;
  AssetTrace trace_;
  bool is_put_back_ = false;
};

}  // namespace agw

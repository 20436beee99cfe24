#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/async/cancellation.hpp"
#include "io/process/blocking.hpp"
#include "io/sandbox/sandbox.hpp"

namespace agw {

/// A program that a person wrote to evaluate an asset: a benchmark, or checks.
struct Script {
  std::filesystem::path path;
  std::filesystem::path asset;      ///< passed as the first argument, and in `ASSET_PATH`
  std::filesystem::path project{};  ///< where it may write, except to the asset; if empty, nowhere
  std::chrono::milliseconds limit{600'000};
};

/// The result of a script.
struct ScriptEnd {
  bool succeeded = false;
  bool stopped = false;
  std::string problem{};  ///< for people, with the end of the output; empty if it succeeded
};

/// Runs scripts in the sandbox, without network.
class Scripts {
public:
  /// The directories must be resolved.
  Scripts(Loop& loop, BlockingPool& blocking, const Sandbox& sandbox, std::filesystem::path home,
          std::filesystem::path data_directory)
      : loop_(loop), blocking_(blocking), sandbox_(sandbox), home_(std::move(home)), data_(std::move(data_directory)) {}

  /// `on_output` gets the output as it arrives. Executable files are started directly, others with python3, node or sh,
  /// depending on their extension. A script that cannot be started is reported in the result.
  Task<ScriptEnd> run(Script script, std::function<void(std::string_view)> on_output, StopSource& stop);

  /// Whether scripts are able to change the asset.
  bool may_write_asset() const { return !sandbox_.is_enabled(); }

private:
  SandboxSpec intent_for(const Script& script) const;
  std::filesystem::path surroundings(const std::filesystem::path& file) const;

  Loop& loop_;
  BlockingPool& blocking_;
  const Sandbox& sandbox_;
  const std::filesystem::path home_;
  const std::filesystem::path data_;
};

}  // namespace agw

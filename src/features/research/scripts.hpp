#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/cut.hpp"
#include "io/blocking.hpp"
#include "io/sandbox.hpp"

namespace agw {

/// A person's program that judges an asset: a benchmark, or checks.
struct Script {
  std::filesystem::path path;
  std::filesystem::path asset;      ///< its first argument, and `ASSET_PATH`
  std::filesystem::path project{};  ///< where it may write; empty: nowhere
  std::chrono::milliseconds limit{600'000};
};

/// How it ended.
struct ScriptEnd {
  bool succeeded = false;
  bool stopped = false;
  std::string problem{};  ///< for people, with the end of the output; empty where it succeeded
};

/// Runs scripts in the sandbox, without network.
class Scripts {
public:
  /// The directories are resolved.
  Scripts(Loop& loop, BlockingPool& blocking, const Sandbox& sandbox, std::filesystem::path home,
          std::filesystem::path data_directory)
      : loop_(loop), blocking_(blocking), sandbox_(sandbox), home_(std::move(home)), data_(std::move(data_directory)) {}

  /// `on_output` gets what it prints, as it comes. An executable file is started as it is, others by python3, node or
  /// sh, by their names' endings. What cannot be started is an end, too.
  Task<ScriptEnd> run(Script script, std::function<void(std::string_view)> on_output, Stop& stop);

  /// Whether it runs where it could change the asset.
  bool may_write(const Script& script) const { return !script.project.empty() || !sandbox_.confines(); }

private:
  SandboxWish wish_for(const Script& script) const;
  std::filesystem::path surroundings(const std::filesystem::path& file) const;

  Loop& loop_;
  BlockingPool& blocking_;
  const Sandbox& sandbox_;
  const std::filesystem::path home_;
  const std::filesystem::path data_;
};

}  // namespace agw

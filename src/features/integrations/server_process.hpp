#pragma once

#include <filesystem>
#include <memory>

#include "features/integrations/types.hpp"
#include "features/secrets/service.hpp"
#include "io/process/process.hpp"
#include "io/proxy/proxied_network.hpp"
#include "io/sandbox/sandbox.hpp"

namespace agw {

/// A process to start, and the secrets that it receives.
struct ServerProcess {
  ProcessOptions options;
  FilledSecrets secrets;
  FilledSecrets withheld;                     ///< secrets that only its proxy receives
  std::shared_ptr<ProxiedNetwork> network{};  ///< of its sandbox; null: it runs without a sandbox
};

/// The process of an `mcp-stdio` integration: its command in the sandbox, with `network`, read access to home (except
/// private files), and a writable directory as its HOME. `withheld` are the secrets of its proxy. Blocks. Throws
/// ProcessError, SecretError.
ServerProcess server_process(const IntegrationSettings& settings, const Secrets& secrets, FilledSecrets withheld,
                             const Sandbox& sandbox, std::shared_ptr<ProxiedNetwork> network,
                             const std::filesystem::path& home, const std::filesystem::path& data_directory);

}  // namespace agw

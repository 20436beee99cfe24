#pragma once

#include <filesystem>

#include "features/integrations/types.hpp"
#include "features/secrets/service.hpp"
#include "io/process/process.hpp"
#include "io/sandbox/sandbox.hpp"

namespace agw {

/// A process to start, and the secrets that it is given.
struct ServerProcess {
  ProcessOptions options;
  FilledSecrets secrets;
};

/// What to start for an `mcp-stdio` integration: its command in the sandbox, with the host's network, home to be read
/// (without what is private), and a directory of its own to write, which is its home. Blocks. Throws ProcessError,
/// SecretError.
ServerProcess server_process(const IntegrationSettings& settings, const Secrets& secrets, const Sandbox& sandbox,
                             const std::filesystem::path& home, const std::filesystem::path& data_directory);

}  // namespace agw

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "io/files/descriptor.hpp"

namespace agw {

/// Locks a data directory for one gateway with a kernel lock on `{data_dir}/gateway.lock`, which ends with the process,
/// so that a file left behind by a killed gateway locks nothing. The file names the owner as JSON: `{"pid": 123, "url":
/// "http://127.0.0.1:7420", "certificate": null}`, `url` null until published.
/// Example: src/io/files/lock_file_test.cpp: LockFileTest.ASecondStartIsRefusedAndToldProcessAndAddress
class LockFile {
public:
  /// Takes the lock. Children of a dead gateway may hold it for a moment while they are being started; only that is
  /// waited for. Throws StartError: already_running, naming process and URL, if another gateway holds it; usage if the
  /// file cannot be used.
  explicit LockFile(const std::filesystem::path& data_directory);
  ~LockFile();  ///< empties the file and releases the lock
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  /// Publishes the gateway's URL and, with TLS, the fingerprint of its certificate for the command line.
  void publish(std::string_view url, std::string_view certificate = {});

private:
  void write(std::string_view url, std::string_view certificate);

  std::filesystem::path path_;
  Descriptor file_;
};

/// A running gateway, which holds its lock.
struct RunningGateway {
  pid_t pid = 0;            ///< 0 if not yet written
  std::string url;          ///< empty while it starts or stops
  std::string certificate;  ///< SHA-256 of its certificate, in hex; empty without TLS
};

/// The gateway that runs on `data_directory`, or nullopt. Only the lock counts, never the file's content alone; looking
/// does not take the lock, so it does not disturb a starting gateway.
std::optional<RunningGateway> find_running_gateway(const std::filesystem::path& data_directory);

}  // namespace agw

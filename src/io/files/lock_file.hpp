#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "io/files/descriptor.hpp"

namespace agw {

/// Locks a data directory for one gateway with a kernel lock on `{data_dir}/gateway.lock`. The lock ends with the
/// process, so the file of a killed gateway locks nothing. The file describes the owner as JSON: `{"pid": 123, "url":
/// "http://127.0.0.1:7420", "certificate": null}`; `url` is null until published.
/// Example: src/io/files/lock_file_test.cpp: LockFileTest.ASecondStartIsRefusedWithProcessAndAddress
class LockFile {
public:
  /// Takes the lock. Waits only for children of a dead gateway, which hold the lock briefly while they are being
  /// started. Throws StartError: already_running, naming process and URL, if another gateway holds it; usage if the
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

/// The gateway running on `data_directory`, or nullopt. The lock decides, not the content of the file alone. The check
/// does not take the lock, so it does not disturb a starting gateway.
std::optional<RunningGateway> find_running_gateway(const std::filesystem::path& data_directory);

}  // namespace agw

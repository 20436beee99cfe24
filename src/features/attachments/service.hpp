#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "features/attachments/types.hpp"
#include "io/process/blocking.hpp"
#include "storage/in_transaction.hpp"

namespace agw {

class Clock;
class Database;

/// How large an uploaded file may be, in bytes.
inline constexpr std::size_t attachment_limit = 20 * 1024 * 1024;

/// Files that came with messages: a row each, and their bytes beneath the data directory.
class Attachments {
public:
  Attachments(BlockingPool& blocking, Database& database, const Clock& clock, std::filesystem::path data_directory);

  /// Keeps the bytes; text of another charset, by its `content_type` or its byte order mark, as UTF-8. `content_type`
  /// is the header's text; without a usable one they are `application/octet-stream`. Throws BadRequest `invalid name:
  /// <name>` for one with control characters or over 255 bytes.
  Task<Attachment> add(std::string name, std::string content_type, std::string bytes,
                       InTransaction<Attachment> in_transaction = {});

  /// In the order of `ids`. Throws NotFound `file not found` where one is unknown.
  Task<std::vector<Attachment>> require(std::vector<std::string> ids);
  /// The same without those that are unknown.
  Task<std::vector<Attachment>> find(std::vector<std::string> ids);

  /// Its bytes; nothing where the file is gone.
  Task<std::optional<std::string>> bytes(Attachment attachment);

private:
  BlockingPool& blocking_;
  Database& database_;
  const Clock& clock_;
  std::filesystem::path data_directory_;
};

}  // namespace agw

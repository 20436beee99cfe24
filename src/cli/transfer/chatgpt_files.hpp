#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/json/json.hpp"
#include "cli/transfer/importer.hpp"

namespace agw::cli {

/// The pictures and other files in an export of ChatGPT. Their names begin with the ids used in conversations
/// (`file-AbC123-cat.png`), and many lack the extension for their content. Newer exports name them only in a list:
/// `{"file-AbC123.dat": "cat.png", …}`.
class ChatgptFiles {
public:
  /// Imports all of them.
  ChatgptFiles(Importer& importer, const std::filesystem::path& path);

  /// The description of a file in the metadata of a turn; nullopt, and counted, if the export does not contain it.
  std::optional<json::object> find(const std::string& id);
  std::uint64_t missing() const { return missing_; }

private:
  std::map<std::string, json::object> found_;
  std::uint64_t missing_ = 0;
};

/// The id of a file at the end of its address (`sediment://file_0123`); the address itself if it has none.
std::string file_id_in(const std::string& address);

}  // namespace agw::cli

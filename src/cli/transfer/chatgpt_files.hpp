#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/json/json.hpp"
#include "cli/transfer/importer.hpp"

namespace agw::cli {

/// The pictures and other files of an export of ChatGPT. Their names begin with the ids that conversations use
/// (`file-AbC123-cat.png`), and many lack the ending that fits their content.
class ChatgptFiles {
public:
  /// Takes over all of them.
  ChatgptFiles(Importer& importer, const std::filesystem::path& path);

  /// The description of a file in the metadata of a turn; no value if the export does not have it, which is counted.
  std::optional<json::object> find(const std::string& id);
  std::uint64_t missing() const { return missing_; }

private:
  std::map<std::string, json::object> found_;
  std::uint64_t missing_ = 0;
};

/// The id of a file in its address, which ends in it (`sediment://file_0123`); the address itself if it has none.
std::string file_id_in(const std::string& address);

}  // namespace agw::cli

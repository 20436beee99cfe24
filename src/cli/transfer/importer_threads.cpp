// The threads that earlier imports have made.

#include <utility>

#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "cli/client/client.hpp"
#include "cli/transfer/importer.hpp"

namespace agw::cli {

namespace {

std::vector<std::string> ids_in(const json::value& list) {
  std::vector<std::string> ids;
  for (const auto& each : list.is_array() ? list.get_array() : json::array()) {
    if (each.is_object()) ids.push_back(string_or_empty(each.get_object(), "id"));
  }
  return ids;
}

}  // namespace

std::string Importer::thread_id(const std::string& key) const { return id_of_key(source_, key); }

std::optional<std::string> Importer::newest_turn(const std::string& thread_id, const IsTurn& is_wanted) const try {
  std::optional<std::string> before;
  while (writes_) {
    auto turns = ids_in(request("GET", path({"threads", thread_id, "turns"}, {{"before", before}})));
    for (auto& turn : turns) {
      if (is_wanted(turn)) return std::move(turn);
    }
    if (turns.empty()) break;
    before = std::move(turns.back());
  }
  return std::nullopt;
} catch (const ResponseError& error) {
  if (error.is_not_found()) return std::nullopt;
  throw;
}

bool Importer::has_thread(const std::string& id) {
  if (!threads_) {
    threads_.emplace();
    std::optional<std::string> before;
    do {
      auto page =
          ids_in(request("GET", path({"threads"}, {{"archived", "true"}, {"limit", "1000"}, {"before", before}})));
      before = page.empty() ? std::nullopt : std::optional(page.back());
      threads_->insert(std::move_iterator(page.begin()), std::move_iterator(page.end()));
    } while (before);
  }
  return threads_->contains(id);
}

}  // namespace agw::cli

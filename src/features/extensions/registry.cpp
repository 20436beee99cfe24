#include "features/extensions/registry.hpp"

#include "base/async/assert.hpp"

namespace agw {

bool shows(const ExtensionFilter& filter, const std::optional<std::string>& owner_id, const Extension& extension) {
  return (!filter.type || *filter.type == extension.type) &&
         (!filter.enabled || *filter.enabled == extension.enabled) &&
         (!filter.source || *filter.source == extension.source) &&
         (!filter.owner_agent_id || filter.owner_agent_id == extension.owner_agent_id ||
          (owner_id && owner_id == extension.owner_agent_id));
}

void Registry::put(std::int64_t position, Extension extension) {
  Entry entry{position, std::make_shared<const RegisteredExtension>(std::move(extension))};
  AGW_ASSERT(position > 0);
  AGW_ASSERT(!entry.id().empty());
  AGW_ASSERT(!entry.name().empty());
  all_ = nullptr;
  auto& by_id = entries_.get<ById>();
  const auto old = by_id.find(entry.id());
  // Lists are sorted by it, and pages of lists continue after it.
  AGW_DEBUG_ASSERT(old == by_id.end() || old->position == position);
  const auto before = entries_.size();
  const bool is_new = old == by_id.end();
  const bool taken = old == by_id.end() ? by_id.insert(std::move(entry)).second : by_id.replace(old, std::move(entry));
  AGW_CHECK(taken, "the registry of extensions and the database differ about a name");
  AGW_ASSERT(entries_.size() == before + (is_new ? 1 : 0));
}

void Registry::erase(std::string_view id) {
  all_ = nullptr;
  auto& by_id = entries_.get<ById>();
  if (const auto entry = by_id.find(id); entry != by_id.end()) by_id.erase(entry);
}

void Registry::reserve(std::size_t count) {
  entries_.get<ById>().reserve(count);
  entries_.get<ByName>().reserve(count);
}

ExtensionPointer Registry::find(std::string_view id) const {
  const auto& by_id = entries_.get<ById>();
  const auto entry = by_id.find(id);
  return entry == by_id.end() ? nullptr : entry->extension();
}

ExtensionPointer Registry::find_named(std::string_view name) const {
  const auto& by_name = entries_.get<ByName>();
  const auto entry = by_name.find(name);
  return entry == by_name.end() ? nullptr : entry->extension();
}

std::vector<ExtensionPointer> Registry::list(const ExtensionFilter& filter,
                                             const std::optional<std::string>& owner_id) const {
  std::vector<ExtensionPointer> found;
  for (const auto& entry : entries_.get<ByPosition>()) {
    if (shows(filter, owner_id, entry.record->extension)) found.push_back(entry.extension());
  }
  return found;
}

std::shared_ptr<const std::vector<RegisteredPointer>> Registry::all() const {
  if (all_) return all_;
  auto all = std::make_shared<std::vector<RegisteredPointer>>();
  all->reserve(entries_.size());
  for (const auto& entry : entries_.get<ByPosition>()) all->push_back(entry.record);
  all_ = std::move(all);
  return all_;
}

}  // namespace agw

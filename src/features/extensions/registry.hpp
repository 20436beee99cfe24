#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/multi_index/hashed_index.hpp>
#include <boost/multi_index/mem_fun.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index_container.hpp>

#include "features/extensions/types.hpp"

namespace agw {

/// A record, and its JSON for lists.
class RegisteredExtension {
public:
  explicit RegisteredExtension(Extension record) : extension(std::move(record)) {}

  /// Makes it at the first call, which may be on any thread, and keeps it.
  const std::string& json() const {
    std::call_once(made_, [this] { json_ = to_json(extension); });
    return json_;
  }

  const Extension extension;

private:
  mutable std::once_flag made_;
  mutable std::string json_;
};
using RegisteredPointer = std::shared_ptr<const RegisteredExtension>;

/// Whether a list with the filter contains the extension. `owner_id` is that of the agent `filter.owner_agent_id`.
bool shows(const ExtensionFilter& filter, const std::optional<std::string>& owner_id, const Extension& extension);

/// All extensions in memory: looked up by id or name, listed newest first, without reading the disk.
class Registry {
public:
  /// Adds the record or replaces the one with its id. Newer extensions have greater positions.
  void put(std::int64_t position, Extension extension);
  void erase(std::string_view id);
  /// Reserves capacity for this many records in total.
  void reserve(std::size_t count);

  /// Null if there is none.
  ExtensionPointer find(std::string_view id) const;
  ExtensionPointer find_named(std::string_view name) const;

  /// Newest first. With `filter.owner_agent_id`, only extensions owned by it or by `owner_id`.
  std::vector<ExtensionPointer> list(const ExtensionFilter& filter,
                                     const std::optional<std::string>& owner_id = std::nullopt) const;
  /// All of them, newest first. The list is made at the first call after a change.
  std::shared_ptr<const std::vector<RegisteredPointer>> all() const;

  std::size_t size() const { return entries_.size(); }

private:
  struct Entry {
    std::int64_t position;
    RegisteredPointer record;

    std::string_view id() const { return record->extension.id; }
    std::string_view name() const { return record->extension.name; }
    ExtensionPointer extension() const { return {record, &record->extension}; }
  };
  struct ByPosition;
  struct ById;
  struct ByName;
  using Hash = std::hash<std::string_view>;  // boost::hash is slower: it combines single characters
  using Entries = boost::multi_index_container<
      Entry, boost::multi_index::indexed_by<
                 boost::multi_index::ordered_unique<boost::multi_index::tag<ByPosition>,
                                                    boost::multi_index::member<Entry, std::int64_t, &Entry::position>,
                                                    std::greater<>>,
                 boost::multi_index::hashed_unique<
                     boost::multi_index::tag<ById>,
                     boost::multi_index::const_mem_fun<Entry, std::string_view, &Entry::id>, Hash>,
                 boost::multi_index::hashed_unique<
                     boost::multi_index::tag<ByName>,
                     boost::multi_index::const_mem_fun<Entry, std::string_view, &Entry::name>, Hash>>>;

  Entries entries_;
  mutable std::shared_ptr<const std::vector<RegisteredPointer>> all_;  ///< null after a change
};

}  // namespace agw

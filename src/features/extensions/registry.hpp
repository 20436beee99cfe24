#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/multi_index/hashed_index.hpp>
#include <boost/multi_index/mem_fun.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index_container.hpp>

#include "features/extensions/types.hpp"

namespace agw {

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
  /// The same as a JSON array; nullopt if it takes more than about `max_size` bytes.
  std::optional<std::string> list_json(const ExtensionFilter& filter, std::size_t max_size,
                                       const std::optional<std::string>& owner_id = std::nullopt) const;

  std::size_t size() const { return entries_.size(); }

private:
  struct Entry {
    std::int64_t position;
    ExtensionPointer extension;
    mutable std::string json;  ///< created for the first list that includes it

    std::string_view id() const { return extension->id; }
    std::string_view name() const { return extension->name; }
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
};

}  // namespace agw

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.hpp"

namespace agw {

/// Puts tool calls together that come in pieces, in order of their first piece.
class ToolCalls {
public:
  /// A piece of the call at `index`: the id and name come with one piece, the arguments are appended. An id and a name
  /// with it that differ from the call's own begin a new call, which later pieces at this index belong to; so does a
  /// name without an id where the call is whole already. A whole call that comes again replaces itself.
  void add(std::int64_t index, std::string_view id, std::string_view name, std::string_view arguments);

  /// More arguments of the call at `index`, where one has begun.
  void add_arguments(std::int64_t index, std::string_view arguments);

  /// All arguments of the call at `index`, instead of what came in pieces.
  void set_arguments(std::int64_t index, std::string_view arguments);

  /// A whole call, instead of what came of it in pieces: the one with that id wherever it stands, else that at `index`.
  void put(std::int64_t index, std::string_view id, std::string_view name, std::string_view arguments);

  bool empty() const { return calls_.empty(); }
  std::size_t size() const { return calls_.size(); }
  /// Whether the arguments of every call can be read.
  bool readable() const;

  /// The calls. One without an id, or with one that another call has, gets an id of its own.
  std::vector<ToolUse> finish() const;

private:
  struct Call {
    std::int64_t index;
    std::string id;
    std::string name;
    std::string arguments;

    /// Whether such a piece at the same index belongs to another call.
    bool ends_before(std::string_view its_id, std::string_view its_name, std::string_view its_arguments) const;
  };

  Call* find(std::int64_t index);

  std::vector<Call> calls_;
};

}  // namespace agw

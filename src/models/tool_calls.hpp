#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.hpp"

namespace agw {

/// Sets the arguments and what is read from them.
void set_arguments_of(ToolUse& use, std::string text);

/// Assembles tool calls that arrive in pieces, in the order of their first pieces.
class ToolCalls {
public:
  /// Adds a piece of the call at `index`: the first has the id and name, and all append to the arguments. A piece with
  /// another id and name begins a new call at this index. So does a piece with a name and no id once the call is
  /// complete. If a complete call, or the beginning of its arguments after their end, is sent again, it replaces
  /// itself.
  void add(std::int64_t index, std::string_view id, std::string_view name, std::string_view arguments);

  /// Appends arguments to the call at `index`, if there is one.
  void add_arguments(std::int64_t index, std::string_view arguments);

  /// Replaces the arguments of the call at `index`.
  void set_arguments(std::int64_t index, std::string_view arguments);

  /// Replaces a call with its complete form: the call with that id, else the call at `index`.
  void put(std::int64_t index, std::string_view id, std::string_view name, std::string_view arguments);

  struct Call {
    std::int64_t index;
    std::string id;
    std::string name;
    std::string arguments;

    /// Whether this piece, at the same index, begins another call.
    bool ends_before(std::string_view its_id, std::string_view its_name, std::string_view its_arguments) const;
  };

  /// The calls received so far, possibly incomplete.
  const std::vector<Call>& calls() const { return calls_; }
  bool empty() const { return calls_.empty(); }
  std::size_t size() const { return calls_.size(); }
  /// Whether the arguments of every call can be parsed.
  bool readable() const;

  /// Returns the calls. A call without a unique id gets one.
  std::vector<ToolUse> finish() const;

private:
  Call* find(std::int64_t index);

  std::vector<Call> calls_;
};

}  // namespace agw

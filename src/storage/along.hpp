#pragma once

#include <functional>

namespace agw {

class Connection;

/// Something that a service's write does in the record's own transaction, after the record was made: the caller's part
/// of one step that must happen whole. Empty for nothing.
template <class T>
using Along = std::function<void(Connection& connection, const T& record)>;

}  // namespace agw

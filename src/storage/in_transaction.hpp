#pragma once

#include <functional>

namespace agw {

class Connection;

/// A callback that runs in the transaction of a service's write, after the record was written, and makes the caller's
/// changes part of the same atomic step. May be empty.
template <class T>
using InTransaction = std::function<void(Connection& connection, const T& record)>;

}  // namespace agw

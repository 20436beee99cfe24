#pragma once

#include <functional>

namespace agw {

class Connection;

/// A callback that runs inside the transaction of a service's write, after the record was written: the caller's part of
/// an atomic step. May be empty.
template <class T>
using InTransaction = std::function<void(Connection& connection, const T& record)>;

}  // namespace agw

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace agw {

/// The type of a NULL, which servers need.
enum class ValueType { integer, real, text, unknown };

/// A statement of a database on a server. Statement (storage/connection.hpp) forwards its calls and documents them.
class RemoteStatement {
public:
  RemoteStatement() = default;
  virtual ~RemoteStatement() = default;
  RemoteStatement(const RemoteStatement&) = delete;
  RemoteStatement& operator=(const RemoteStatement&) = delete;

  virtual int position(const char* name) const = 0;
  virtual void set_integer(int position, std::int64_t value) = 0;
  virtual void set_real(int position, double value) = 0;
  virtual void set_text(int position, std::string_view value) = 0;
  virtual void set_null(int position, ValueType type) = 0;

  virtual bool step() = 0;
  /// Drops the rows and keeps the bindings.
  virtual void reset() = 0;
  virtual bool is_null(int column) const = 0;
  virtual std::int64_t integer(int column) const = 0;
  virtual double real(int column) const = 0;
  virtual std::string_view text(int column) const = 0;

  /// Makes the statement available again; drops rows and bindings.
  virtual void release() = 0;
};

/// A connection to a database on a server. Connection (storage/connection.hpp) forwards its calls and documents them.
class RemoteConnection {
public:
  RemoteConnection() = default;
  virtual ~RemoteConnection() = default;
  RemoteConnection(const RemoteConnection&) = delete;
  RemoteConnection& operator=(const RemoteConnection&) = delete;

  /// Returns a statement for exclusive use until its `release`.
  virtual RemoteStatement& prepare(std::string_view sql) = 0;
  virtual void execute(const std::string& sql) = 0;
  virtual int changes() const = 0;
  virtual bool in_transaction() const = 0;
};

}  // namespace agw

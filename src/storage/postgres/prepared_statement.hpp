#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/postgres/parameters.hpp"
#include "storage/postgres/session.hpp"

namespace agw::postgres {

/// A statement of a Session. The server prepares it at the first run, because the types of its parameters are known
/// only from the bound values. Parameters are sent in binary, so that long texts need no quoting; results are received
/// as text, which suits every type of number.
class PreparedStatement final : public RemoteStatement {
public:
  using FreeList = std::vector<PreparedStatement*>;

  PreparedStatement(Session& session, FreeList& free_list, std::string_view sql);

  int position(const char* name) const override;
  void set_integer(int position, std::int64_t value) override;
  void set_real(int position, double value) override;
  void set_text(int position, std::string_view value) override;
  void set_null(int position, ValueType type) override;

  bool step() override;
  void reset() override;
  bool is_null(int column) const override;
  std::int64_t integer(int column) const override;
  double real(int column) const override;
  std::string_view text(int column) const override;
  void release() override;

private:
  using Parameter = Session::Parameter;
  /// A statement prepared for parameters of these types, and its name on the server.
  struct Variant {
    std::vector<Oid> types;
    std::string name;
  };

  Parameter& parameter(int position, Oid type);
  const std::string& name_for_types();
  bool fits(const Variant& variant) const;
  void require(int column) const;
  std::string_view raw(int column) const;
  std::string_view kept(int column, std::string text) const;

  Session& session_;
  FreeList& free_list_;
  const std::string sql_;
  const NumberedSql numbered_;
  std::vector<Parameter> parameters_;
  std::vector<Variant> variants_;
  Result result_;
  int row_ = -1;
  /// Texts of the current row that were decoded from the server's form.
  mutable std::vector<std::pair<int, std::unique_ptr<std::string>>> converted_;
};

}  // namespace agw::postgres

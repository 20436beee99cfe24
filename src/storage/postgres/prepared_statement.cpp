#include "storage/postgres/prepared_statement.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "storage/postgres/text_encoding.hpp"

namespace agw::postgres {

namespace {

// Object ids of built-in types (PostgreSQL, src/include/catalog/pg_type.dat); they never change.
constexpr Oid unknown_type = 0;
constexpr Oid bytea_type = 17;
constexpr Oid int8_type = 20;
constexpr Oid text_type = 25;
constexpr Oid float8_type = 701;

Oid type_id(ValueType type) {
  switch (type) {
    case ValueType::integer:
      return int8_type;
    case ValueType::real:
      return float8_type;
    case ValueType::text:
      return text_type;
    case ValueType::unknown:
      break;
  }
  return unknown_type;
}

void assign_big_endian(std::string& bytes, std::uint64_t value) {
  bytes.resize(sizeof value);
  for (std::size_t i = sizeof value; i-- > 0; value >>= 8) bytes[i] = static_cast<char>(value & 0xff);
}

template <class Number>
Number number_at_start(std::string_view text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

int digit_value(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

/// Decodes `\x0a1b`.
std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 2; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit_value(hex[i]) << 4 | digit_value(hex[i + 1]));
  }
  return bytes;
}

}  // namespace

PreparedStatement::PreparedStatement(Session& session, FreeList& free_list, std::string_view sql)
    : session_(session),
      free_list_(free_list),
      sql_(sql),
      numbered_(number_parameters(sql)),
      parameters_(numbered_.names.size()) {
  AGW_ASSERT(!numbered_.text.empty());
}

int PreparedStatement::position(const char* name) const {
  const auto found = std::ranges::find(numbered_.names, name);
  AGW_CHECK(found != numbered_.names.end(), fmt::format("no parameter {} in: {}", name, sql_));
  return static_cast<int>(found - numbered_.names.begin()) + 1;
}

Session::Parameter& PreparedStatement::parameter(int position, Oid type) {
  AGW_ASSERT(position > 0);
  AGW_ASSERT(static_cast<std::size_t>(position) <= parameters_.size());
  // The rows are those of the earlier values. SQLite refuses this too.
  AGW_DEBUG_ASSERT(!result_);
  auto& parameter = parameters_.at(static_cast<std::size_t>(position) - 1);
  parameter.type = type;
  parameter.is_null = false;
  return parameter;
}

void PreparedStatement::set_integer(int position, std::int64_t value) {
  assign_big_endian(parameter(position, int8_type).bytes, static_cast<std::uint64_t>(value));
}

void PreparedStatement::set_real(int position, double value) {
  assign_big_endian(parameter(position, float8_type).bytes, std::bit_cast<std::uint64_t>(value));
}

void PreparedStatement::set_text(int position, std::string_view value) {
  auto& bytes = parameter(position, text_type).bytes;
  if (needs_encoding(value)) {
    bytes = encoded(value);
  } else {
    bytes.assign(value);
  }
}

void PreparedStatement::set_null(int position, ValueType type) { parameter(position, type_id(type)).is_null = true; }

/// A NULL of unknown type fits any prepared type.
bool PreparedStatement::fits(const Variant& variant) const {
  AGW_ASSERT(variant.types.size() == parameters_.size());
  return std::ranges::equal(parameters_, variant.types, [](const Parameter& bound, Oid prepared) {
    return bound.type == prepared || (bound.is_null && bound.type == unknown_type);
  });
}

const std::string& PreparedStatement::name_for_types() {
  for (const auto& variant : variants_) {
    if (fits(variant)) return variant.name;
  }
  Variant variant{.name = fmt::format("s{}", ++session_.prepared_)};
  std::ranges::transform(parameters_, std::back_inserter(variant.types), &Parameter::type);
  AGW_DEBUG_ASSERT(fits(variant));
  session_.prepare(variant.name, numbered_.text, variant.types);
  return variants_.emplace_back(std::move(variant)).name;
}

bool PreparedStatement::step() {
  if (!result_) {
    result_ = session_.run_prepared(name_for_types(), parameters_, sql_);
    row_ = -1;
  }

  converted_.clear();
  if (++row_ < session_.pq_.rows(result_.get())) return true;
  reset();
  return false;
}

void PreparedStatement::reset() {
  converted_.clear();
  result_.reset();
}

void PreparedStatement::release() {
  reset();
  for (auto& parameter : parameters_) {
    parameter.type = unknown_type;
    parameter.is_null = true;
    // Frees the memory of a long text.
    if (parameter.bytes.capacity() > 4096) parameter.bytes = {};
  }
  AGW_ASSERT(!result_);
  // Two users of one statement would overwrite each other's values.
  AGW_DEBUG_ASSERT(!contains(free_list_, this));
  free_list_.push_back(this);
}

void PreparedStatement::require(int column) const {
  AGW_CHECK(result_ && row_ >= 0 && column >= 0 && column < session_.pq_.columns(result_.get()),
            "a column was read that the statement does not have, or before its first row");
}

bool PreparedStatement::is_null(int column) const {
  require(column);
  return session_.pq_.is_null(result_.get(), row_, column) != 0;
}

std::string_view PreparedStatement::raw(int column) const {
  require(column);
  return {session_.pq_.value(result_.get(), row_, column),
          static_cast<std::size_t>(session_.pq_.length(result_.get(), row_, column))};
}

std::int64_t PreparedStatement::integer(int column) const {
  const auto text = raw(column);
  if (text == "t") return 1;
  return number_at_start<std::int64_t>(text);
}

double PreparedStatement::real(int column) const { return number_at_start<double>(raw(column)); }

std::string_view PreparedStatement::text(int column) const {
  const auto text = raw(column);
  if (session_.pq_.type(result_.get(), column) == bytea_type) return kept(column, from_hex(text));
  return may_be_encoded(text) ? kept(column, decoded(text)) : text;
}

std::string_view PreparedStatement::kept(int column, std::string text) const {
  for (const auto& [known, kept_text] : converted_) {
    if (known == column) return *kept_text;
  }
  return *converted_.emplace_back(column, std::make_unique<std::string>(std::move(text))).second;
}

}  // namespace agw::postgres

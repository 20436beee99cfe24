#pragma once

#include "api/route.hpp"

namespace agw {

/// The documents that are made from the route table: `/openapi.json`, `/asyncapi.json` and `/utcp`.
class DocumentRoutes {
public:
  Routes routes();
  /// The whole table, the documents' own routes among it. Called once it is complete; `table` must outlive this.
  void describe_table(const Routes& table) { table_ = &table; }

private:
  Task<Answer> openapi(Request& request);
  Task<Answer> asyncapi(Request& request);
  Task<Answer> utcp(Request& request);
  const Routes* table_ = nullptr;
};

}  // namespace agw

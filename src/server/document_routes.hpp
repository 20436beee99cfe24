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
  Answer openapi(const Request& request);
  Answer asyncapi(const Request& request);
  Answer utcp(const Request& request);
  const Routes* table_ = nullptr;
};

}  // namespace agw

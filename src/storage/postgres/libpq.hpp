#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>

namespace agw::postgres {

/// The functions of libpq, PostgreSQL's C library, which is loaded only if a database on a server is configured. Named
/// as in its manual, without `PQ`.
struct Libpq {
  decltype(&PQconnectStartParams) connect_start = nullptr;
  decltype(&PQconnectPoll) connect_poll = nullptr;
  decltype(&PQfinish) finish = nullptr;
  decltype(&PQstatus) status = nullptr;
  decltype(&PQsocket) socket = nullptr;
  decltype(&PQerrorMessage) error_message = nullptr;
  decltype(&PQtransactionStatus) transaction_status = nullptr;
  decltype(&PQsslInUse) is_encrypted = nullptr;
  decltype(&PQbackendPID) backend_pid = nullptr;
  decltype(&PQsetNoticeProcessor) set_notice_processor = nullptr;
  decltype(&PQconninfoParse) conninfo_parse = nullptr;
  decltype(&PQconninfoFree) conninfo_free = nullptr;
  decltype(&PQfreemem) freemem = nullptr;
  decltype(&PQsendQuery) send_query = nullptr;
  decltype(&PQsendPrepare) send_prepare = nullptr;
  decltype(&PQsendQueryPrepared) send_prepared = nullptr;
  decltype(&PQconsumeInput) consume_input = nullptr;
  decltype(&PQisBusy) is_busy = nullptr;
  decltype(&PQgetResult) get_result = nullptr;
  decltype(&PQclear) clear = nullptr;
  decltype(&PQresultStatus) result_status = nullptr;
  decltype(&PQresultErrorField) error_field = nullptr;
  decltype(&PQntuples) rows = nullptr;
  decltype(&PQnfields) columns = nullptr;
  decltype(&PQftype) type = nullptr;
  decltype(&PQgetvalue) value = nullptr;
  decltype(&PQgetlength) length = nullptr;
  decltype(&PQgetisnull) is_null = nullptr;
  decltype(&PQcmdStatus) command_status = nullptr;
  decltype(&PQcmdTuples) changed_rows = nullptr;
  decltype(&PQnotifies) notifies = nullptr;

  std::string error;  ///< why the library cannot be used, and the remedy; empty if it can be used

  static const Libpq& get();
};

struct ClearResult {
  void operator()(PGresult* result) const { Libpq::get().clear(result); }
};
using Result = std::unique_ptr<PGresult, ClearResult>;

struct FinishConnection {
  void operator()(PGconn* connection) const { Libpq::get().finish(connection); }
};
using ConnectionHandle = std::unique_ptr<PGconn, FinishConnection>;

}  // namespace agw::postgres

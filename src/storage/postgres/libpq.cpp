#include "storage/postgres/libpq.hpp"

#include "base/dynamic_library.hpp"

namespace agw::postgres {

namespace {

Libpq load() {
  Libpq pq;
  DynamicLibrary library("libpq.so.5", "libpq5");
  library.find("PQconnectStartParams", pq.connect_start);
  library.find("PQconnectPoll", pq.connect_poll);
  library.find("PQfinish", pq.finish);
  library.find("PQstatus", pq.status);
  library.find("PQsocket", pq.socket);
  library.find("PQerrorMessage", pq.error_message);
  library.find("PQtransactionStatus", pq.transaction_status);
  library.find("PQsslInUse", pq.is_encrypted);
  library.find("PQbackendPID", pq.backend_pid);
  library.find("PQsetNoticeProcessor", pq.set_notice_processor);
  library.find("PQconninfoParse", pq.conninfo_parse);
  library.find("PQconninfoFree", pq.conninfo_free);
  library.find("PQfreemem", pq.freemem);
  library.find("PQsendQuery", pq.send_query);
  library.find("PQsendPrepare", pq.send_prepare);
  library.find("PQsendQueryPrepared", pq.send_prepared);
  library.find("PQconsumeInput", pq.consume_input);
  library.find("PQisBusy", pq.is_busy);
  library.find("PQgetResult", pq.get_result);
  library.find("PQclear", pq.clear);
  library.find("PQresultStatus", pq.result_status);
  library.find("PQresultErrorField", pq.error_field);
  library.find("PQntuples", pq.rows);
  library.find("PQnfields", pq.columns);
  library.find("PQftype", pq.type);
  library.find("PQgetvalue", pq.value);
  library.find("PQgetlength", pq.length);
  library.find("PQgetisnull", pq.is_null);
  library.find("PQcmdStatus", pq.command_status);
  library.find("PQcmdTuples", pq.changed_rows);
  library.find("PQnotifies", pq.notifies);
  pq.error = library.problem();
  return pq;
}

}  // namespace

const Libpq& Libpq::get() {
  static const Libpq pq = load();
  return pq;
}

}  // namespace agw::postgres

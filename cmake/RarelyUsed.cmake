# list_rarely_used(<variable> <source>...): sets the variable to those of the sources that are compiled for size.
#
# The code that handles requests, deltas and searches is compiled for speed. All other code mostly waits for people,
# processes and other servers. It is linked last: of functions that are in both, the linker takes the fast ones.
function(list_rarely_used variable)
  # Rooms of code that handles requests, deltas and searches.
  file(GLOB_RECURSE often_used CONFIGURE_DEPENDS
    src/api/*.cpp
    src/base/*.cpp
    src/features/access/*.cpp
    src/features/events/*.cpp
    src/features/runs/*.cpp
    src/features/threads/*.cpp
    src/io/http/*.cpp
    src/models/*.cpp
    src/server/http/*.cpp
    src/server/websocket/*.cpp
    src/tools/search/*.cpp)
  # Files of other rooms that do.
  file(GLOB more CONFIGURE_DEPENDS
    src/features/extensions/directories_compare.cpp
    src/features/extensions/extension_text.cpp
    src/features/extensions/outbox_store.cpp
    src/features/extensions/store.cpp
    src/io/files/directory.cpp
    src/server/*.cpp
    src/storage/*.cpp)
  list(APPEND often_used ${more})

  # Files of these rooms that run at most once per answer, or read people's files or the data of other programs and nodes.
  file(GLOB exceptions CONFIGURE_DEPENDS
    src/api/client_errors.cpp
    src/api/failure.cpp
    src/api/idempotency_store.cpp
    src/api/versions.cpp
    src/base/cron*.cpp
    src/base/fmt_implementation.cpp
    src/base/json/json5.cpp
    src/base/json/toml.cpp
    src/base/json/yaml*.cpp
    src/base/log*.cpp
    src/base/text/markdown_*.cpp
    src/base/text/unified_diff.cpp
    src/features/access/*pairing*.cpp
    src/features/access/routes.cpp
    src/features/access/token.cpp
    src/features/access/types.cpp
    src/features/events/types.cpp
    src/features/runs/types.cpp
    src/features/threads/activity_store.cpp
    src/features/threads/old_turns.cpp
    src/features/threads/shared_transcript.cpp
    src/features/threads/task_store.cpp
    src/features/threads/title.cpp
    src/features/threads/tools.cpp
    src/features/threads/transfer_*.cpp
    src/features/threads/turn_order_store.cpp
    src/features/threads/types.cpp
    src/features/threads/word_search_store.cpp
    src/io/http/checked_socket.cpp
    src/io/http/curl.cpp
    src/io/http/host_name.cpp
    src/io/http/http_client.cpp
    src/io/http/public_address.cpp
    src/io/http/web_*.cpp
    src/models/adjustments.cpp
    src/models/call_features.cpp
    src/models/catalog.cpp
    src/models/configured.cpp
    src/models/failures.cpp
    src/models/fitting_names.cpp
    src/models/known_models.cpp
    src/models/model_listing.cpp
    src/models/*picture*.cpp
    src/models/prices.cpp
    src/models/retry.cpp
    src/models/service_*.cpp
    src/models/settings.cpp
    src/models/tool_schema.cpp
    src/models/types.cpp
    src/server/*metrics.cpp
    src/server/http/failure.cpp
    src/server/http/http_proxy_stream.cpp
    src/server/http/tls.cpp
    src/server/idempotency.cpp
    src/server/passed_request.cpp
    src/server/recorded_stream.cpp
    src/server/server.cpp
    src/server/websocket/upgrade.cpp
    src/storage/backup.cpp
    src/storage/change_follower.cpp
    src/storage/full_text_api.cpp
    src/storage/integrity.cpp
    src/storage/migration.cpp
    src/storage/open.cpp
    src/storage/removal.cpp
    src/storage/snapshot.cpp
    src/tools/search/*ripgrep*.cpp)

  list(REMOVE_ITEM often_used ${exceptions})
  list(REMOVE_ITEM ARGN ${often_used})
  set(${variable} ${ARGN} PARENT_SCOPE)
endfunction()

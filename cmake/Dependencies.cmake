# Everything from Debian 12 that the gateway links, as one interface target. Libraries are static if Debian has an archive, so
# that build/release/agw is one file to copy. libcurl, libarchive and libzstd are not listed: they are loaded when they are
# first needed. OpenSSL is the system's shared library, so that it gets security updates; libcurl uses the same copy.
find_library(sqlite_archive NAMES libsqlite3.a REQUIRED)
find_library(boost_json_archive NAMES libboost_json.a REQUIRED)
find_library(boost_url_archive NAMES libboost_url.a REQUIRED)
find_library(boost_container_archive NAMES libboost_container.a REQUIRED)
find_library(boost_system_archive NAMES libboost_system.a REQUIRED)
find_library(yaml_archive NAMES libyaml-cpp.a libyaml-cpp.so REQUIRED)
find_library(ssl_library NAMES libssl.so REQUIRED)
find_library(crypto_library NAMES libcrypto.so REQUIRED)
find_library(edit_archive NAMES libedit.a REQUIRED)
find_library(tinfo_archive NAMES libtinfo.a REQUIRED)
find_library(bsd_archive NAMES libbsd.a REQUIRED)
find_library(md_archive NAMES libmd.a REQUIRED)
find_library(re2_archive NAMES libre2.a REQUIRED)
find_library(cmark_extensions_archive NAMES libcmark-gfm-extensions.a REQUIRED)
find_library(cmark_archive NAMES libcmark-gfm.a REQUIRED)
find_library(seccomp_archive NAMES libseccomp.a REQUIRED)
# Time zones, which libstdc++ 12 lacks. The dependencies of absl::Time follow it.
set(absl_archives "")
foreach(part time civil_time time_zone strings strings_internal base spinlock_wait int128 throw_delegate
    raw_logging_internal log_severity)
  find_library(absl_${part}_archive NAMES libabsl_${part}.a REQUIRED)
  list(APPEND absl_archives ${absl_${part}_archive})
endforeach()

add_library(dependencies INTERFACE)
target_link_options(dependencies INTERFACE -Wl,--gc-sections)
# Asio allocates coroutine frames with operator new: glibc's aligned_alloc does not use the per-thread cache.
target_compile_definitions(dependencies INTERFACE
  BOOST_ASIO_DISABLE_STD_ALIGNED_ALLOC BOOST_ASIO_DISABLE_BOOST_ALIGN
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
  BOOST_ASIO_DISABLE_BOOST_DATE_TIME SPDLOG_FMT_EXTERNAL BOOST_SPIRIT_X3_NO_RTTI)
target_link_libraries(dependencies INTERFACE
  ${boost_json_archive} ${boost_url_archive} ${boost_container_archive} ${boost_system_archive}
  ${sqlite_archive} ${yaml_archive} ${re2_archive} ${seccomp_archive} ${absl_archives} ${ssl_library} ${crypto_library}
  ${cmark_extensions_archive} ${cmark_archive}
  ${edit_archive} ${tinfo_archive} ${bsd_archive} ${md_archive}
  m ${CMAKE_DL_LIBS})

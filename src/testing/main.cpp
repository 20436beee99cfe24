#include <gtest/gtest.h>

#include <csignal>

/// The program of the unit tests.
int main(int count, char** arguments) {
  // As in the gateway: a process or peer that ends before a test wrote to it must not end all tests.
  std::signal(SIGPIPE, SIG_IGN);
  ::testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}

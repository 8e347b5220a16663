//! Real servers for tests: a redis-server on a free port, ended with the test.

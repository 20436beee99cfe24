-- A browser that wants notices while its page is closed. `endpoint` is its address at its push service; who knows it and
-- the gateway's key can send to it. `p256dh` and `auth` are the browser's keys in base64url, `kinds` a JSON array.
-- `device` is what the page calls this browser, by which its WebSockets are known. `gateway_key` is the public key that
-- the browser was given, `token_id` the bearer token at that time: where one of them is another now, the row is of no use.
CREATE TABLE push_subscriptions (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  endpoint TEXT NOT NULL UNIQUE,
  p256dh TEXT NOT NULL,
  auth TEXT NOT NULL,
  kinds TEXT NOT NULL,
  device TEXT,
  gateway_key TEXT NOT NULL,
  token_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT;

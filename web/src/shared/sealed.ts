/**
 * Encryption of shared chats, loaded on demand. Browsers have their own (`crypto.subtle`), but not on a page over plain
 * HTTP from another machine.
 */
import { chacha20poly1305 } from '@noble/ciphers/chacha.js';

/** Constant, because each key encrypts only once. */
const nonce = new Uint8Array(12);

/** `key`: 32 random bytes, for this content only. */
export const sealed = (key: Uint8Array, content: Uint8Array): Uint8Array<ArrayBuffer> =>
  new Uint8Array(chacha20poly1305(key, nonce).encrypt(content));

/** Throws an error if the content was not encrypted with this key, or was changed. */
export const opened = (key: Uint8Array, content: Uint8Array): Uint8Array<ArrayBuffer> =>
  new Uint8Array(chacha20poly1305(key, nonce).decrypt(content));

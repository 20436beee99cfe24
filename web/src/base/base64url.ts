/** Bytes as text in addresses: base64url without padding (RFC 4648, section 5). */

/** The number of bytes passed to a function at once, because browsers limit the number of arguments. */
const atOnce = 0x4000;

export function toBase64url(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += atOnce) text += String.fromCharCode(...bytes.subarray(at, at + atOnce));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Throws an error if `text` is not base64url. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  const packed = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at++) bytes[at] = packed.charCodeAt(at);
  return bytes;
}

/** The links, images and character references that untrusted Markdown may contain. */

const schemes = new Set(['https:', 'http:', 'mailto:']);
const rasters = /^data:image\/(png|jpeg|gif|webp|avif);base64,[a-z0-9+/=\s]*$/i;

/** The address of a link, or null if a click must not open it. */
export function safeLink(address: string): string | null {
  if (/^#\/[\w/%.-]*$/.test(address)) return address;
  try {
    const url = new URL(address);
    return schemes.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** Data URLs only: fetching a remote image would tell its server who is reading. */
export function safeImage(address: string): string | null {
  return rasters.test(address) ? address : null;
}

const named: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  rarr: '→',
  larr: '←',
  times: '×',
  middot: '·',
  bull: '•',
  deg: '°',
  euro: '€',
};

/** Replaces character references with their characters; the result is text, never HTML. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi, (whole, hex, decimal, name) => {
    if (name) return named[name as string] ?? whole;
    const code = hex ? parseInt(hex as string, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : '\ufffd';
  });
}

/**
 * Characters that make one text look like another: bidirectional controls and other control characters except tab and
 * line feed.
 */
const invisible =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

const bidi = /[\u202a-\u202e\u2066-\u2069]/g;

/** Writes invisible characters as `⟨U+202E⟩`: for names, paths, commands and tool output. */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, codePoint);
}

/**
 * Like `escapeInvisible` for prose: only characters that reverse text are escaped. The marks of right-to-left scripts
 * stay.
 */
export function escapeBidi(text: string): string {
  return text.replace(bidi, codePoint);
}

const codePoint = (found: string): string => `⟨U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** Characters that make a text look like another: bidirectional controls, and controls but for tab and line ends. */
const deceiving = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

const reversing = /[\u202a-\u202e\u2066-\u2069]/g;

/** The text with such characters written out, `⟨U+202E⟩`: for names, paths, commands and what tools print. */
export function visible(text: string): string {
  return text.replace(deceiving, named);
}

/** As `visible`, for prose: only what reverses text is written out. The marks of right-to-left scripts stay. */
export function undisguised(text: string): string {
  return text.replace(reversing, named);
}

const named = (found: string): string => `⟨U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** Derives the kind of a file's content from its name. */

const languages: Record<string, string> = {
  bash: 'bash',
  c: 'c',
  cc: 'cpp',
  cpp: 'cpp',
  css: 'css',
  diff: 'diff',
  go: 'go',
  h: 'c',
  hpp: 'cpp',
  htm: 'html',
  html: 'html',
  java: 'java',
  js: 'javascript',
  json: 'json',
  jsx: 'javascript',
  md: 'markdown',
  mjs: 'javascript',
  patch: 'diff',
  py: 'python',
  rs: 'rust',
  sh: 'bash',
  sql: 'sql',
  svg: 'svg',
  ts: 'typescript',
  tsx: 'typescript',
  xml: 'xml',
  yaml: 'yaml',
  yml: 'yaml',
};

/** The picture types that every browser can display. */
const pictures: Record<string, string> = {
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
};

function ofExtension(known: Record<string, string>, path: string): string | undefined {
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(known, extension) ? known[extension] : undefined;
}

/** The language for highlighting; empty if it is unknown. */
export const languageOf = (path: string): string => ofExtension(languages, path) ?? '';

/** The MIME type of a picture; undefined for other files. */
export const pictureType = (path: string): string | undefined => ofExtension(pictures, path);

/**
 * The text of consecutive ranges as blocks that end at line breaks, so that each can be laid out separately. A line
 * that is longer than a range is split where the range ends.
 */
export function blocksOf(ranges: string[]): string[] {
  const blocks: string[] = [];
  let rest = '';
  for (const [i, range] of ranges.entries()) {
    const text = rest + range;
    const end = i === ranges.length - 1 ? text.length : text.lastIndexOf('\n') + 1 || text.length;
    blocks.push(text.slice(0, end));
    rest = text.slice(end);
  }
  return blocks;
}

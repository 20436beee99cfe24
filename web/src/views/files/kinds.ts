/** What the name of a file says about its content. */

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

/** Browsers show no others everywhere. */
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

/** The language to highlight it as; empty if it is not known. */
export const languageOf = (path: string): string => ofExtension(languages, path) ?? '';

/** The MIME type of a picture. */
export const pictureType = (path: string): string | undefined => ofExtension(pictures, path);

/**
 * The text of consecutive ranges as blocks that end with lines, so that each is laid out by itself. A line longer than
 * a range is cut at its end.
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

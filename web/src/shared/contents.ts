/** The HTML of shared chats, in files and links: text, formulas and pictures, and nothing that runs or loads. */
import { escapeInvisible } from '../base/escape';

// Raw strings, because they are not translated.
export const styles = String.raw`:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}article{margin:1.5rem 0}small{opacity:.75}.said{white-space:pre-wrap;padding:.5rem .75rem;border-radius:.5rem;background:light-dark(#eef0f3,#262a2e)}pre{overflow-x:auto;padding:.75rem;border-radius:.5rem;background:light-dark(#f3f4f7,#1b1f24)}table{border-collapse:collapse}td,th{border:1px solid gray;padding:.25rem .5rem}blockquote{margin-inline:0;padding-inline-start:1rem;border-inline-start:3px solid gray}h1,h2,h3{line-height:1.25}math[display=block]{margin:1rem 0;overflow-x:auto}img{display:block;max-width:100%;margin:1rem auto;padding:.5rem;background:#fff}`;
export const policy = String.raw`default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'`;

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

/** `body`: the HTML of the body element, including its tags. */
export function documentOf(title: string, language: string, body: string): string {
  const head =
    `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">` +
    `<meta name="viewport" content="width=device-width"><title>${escaped(escapeInvisible(title))}</title><style>${styles}</style>`;
  return `<!doctype html>\n<html lang="${language}"><head>${head}</head>${body}</html>\n`;
}

export function fileName(title: string): string {
  const name = escapeInvisible(title)
    .replace(/[^\p{L}\p{N} _-]+/gu, '')
    .trim()
    .slice(0, 60)
    .trim();
  return `${name || 'chat'}.html`;
}

export const mathML = 'http://www.w3.org/1998/Math/MathML';

/** The attributes that formulas need. The gaps of their tables and their colours are styles. */
const ofFormulas =
  /^(accent(under)?|column(align|lines|spacing|span)|depth|dir|display(style)?|encoding|fence|form|height|largeop|linebreak|linethickness|[lr]space|math(background|color|size|variant)|maxsize|minsize|movablelimits|notation|row(lines|spacing|span)|scriptlevel|separator|stretchy|style|symmetric|voffset|width|xmlns)$/;
const keptStyle = /^(border|color$|display$|font-weight$|math-depth$|padding|text-align$|width$)/;

const isKept = (element: Element, attribute: string): boolean =>
  (element.namespaceURI === mathML ? ofFormulas : /^(href|dir|start|colspan|rowspan|align)$/).test(attribute);

/** Removes the attributes of all elements in `box`, except those that text or formulas need or `alsoKept` accepts. */
export function removeAttributes(
  box: Element,
  alsoKept: (element: Element, attribute: string) => boolean = () => false,
): void {
  for (const one of box.querySelectorAll('*'))
    for (const { name } of [...one.attributes])
      if (!isKept(one, name) && !alsoKept(one, name)) one.removeAttribute(name);
  for (const { style } of box.querySelectorAll<MathMLElement>('math, math *'))
    for (const property of [...style]) if (!keptStyle.test(property)) style.removeProperty(property);
}

export function removeComments(box: Element): void {
  const comments = box.ownerDocument.createTreeWalker(box, NodeFilter.SHOW_COMMENT);
  const found: Node[] = [];
  while (comments.nextNode()) found.push(comments.currentNode);
  for (const comment of found) comment.parentNode?.removeChild(comment);
}

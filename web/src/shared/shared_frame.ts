/**
 * Runs in a frame with an opaque origin and no network (/ui/frame). The page for shared chats passes it this code as
 * text, and then the content of a link, which anyone may have made. Shows the permitted parts of the content, and posts
 * them back for saving as a file.
 */
import { escapeBidi } from '../base/escape';
import { safeLink } from '../markdown/safe';
import { mathML, policy, removeAttributes, removeComments } from './contents';

const elements =
  /^(a|article|blockquote|br|code|del|details|div|em|h[1-6]|hr|img|li|ol|p|pre|small|span|strong|summary|sup|table|tbody|td|th|thead|tr|ul)$/;
const formulas =
  /^(annotation|math|m(enclose|error|fenced|frac|i|multiscripts|n|o|over|padded|phantom|prescripts|root|row|s|space|sqrt|style|sub|subsup|sup|table|td|text|tr|under|underover)|none|semantics)$/;
const pictures = /^data:image\/(png|jpeg|gif|webp|avif|svg\+xml)[;,]/i;
const html = 'http://www.w3.org/1999/xhtml';

function isKnown({ namespaceURI, localName }: Element): boolean {
  if (namespaceURI === mathML) return formulas.test(localName);
  return namespaceURI === html && elements.test(localName);
}

/** Keeps the attributes of pictures, and the class of questions, whose line breaks are preserved. */
const isKept = (element: Element, name: string): boolean =>
  element.localName === 'img'
    ? name === 'alt' || (name === 'src' && pictures.test(element.getAttribute(name) ?? ''))
    : name === 'class' && element.className === 'said';

/** Removes everything that a shared chat may not contain. Nothing is loaded or run in the document of `body`. */
function clean(body: HTMLElement): void {
  removeComments(body);
  // Some are no longer in it: they were in an element that was replaced.
  for (const one of body.querySelectorAll('*'))
    if (body.contains(one) && !isKnown(one)) one.replaceWith(one.textContent);
  removeAttributes(body, isKept);
  for (const link of body.querySelectorAll('[href]')) {
    const address = safeLink(link.getAttribute('href') ?? '');
    if (!address || address.startsWith('#') || link.localName !== 'a') link.removeAttribute('href');
    else link.setAttribute('href', address);
  }
  const texts = body.ownerDocument.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.nodeValue = escapeBidi(texts.currentNode.nodeValue ?? '');
}

/** Replaces links with their text and address, because nothing may leave the frame. */
function disarmLinks(body: HTMLElement): void {
  for (const link of body.querySelectorAll('a[href]')) {
    const address = link.getAttribute('href') ?? '';
    link.removeAttribute('href');
    if (link.textContent.replace(/\/$/, '') !== address.replace(/\/$/, '')) link.append(` (${address})`);
  }
}

/** Milliseconds of work after which the browser may paint and handle input: at first, and at most. */
const minWork = 20;
const maxWork = 160;

/** Inserts the messages in pieces, because a long chat would otherwise make the browser wait. */
async function show(text: string): Promise<void> {
  const { title, body } = new DOMParser().parseFromString(text, 'text/html');
  // From here on, the policy prevents adding scripts, too.
  const rule = Object.assign(document.createElement('meta'), { content: policy });
  rule.setAttribute('http-equiv', 'Content-Security-Policy');
  document.head.append(rule);
  const piece = body.ownerDocument.createElement('div');
  let html = '';
  let work = minWork;
  let end = performance.now() + work;
  for (const node of [...body.childNodes]) {
    piece.replaceChildren(node);
    clean(piece);
    html += piece.innerHTML;
    disarmLinks(piece);
    document.body.append(...piece.childNodes);
    if (performance.now() < end) continue;
    await new Promise((resolve) => setTimeout(resolve));
    // At each pause, the browser lays out everything so far.
    work = Math.min(2 * work, maxWork);
    end = performance.now() + work;
  }
  parent.postMessage({ shown: true, title, body: html }, '*');
}

addEventListener('gateway', (event) => void show((event as CustomEvent<string>).detail), { once: true });

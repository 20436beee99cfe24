/**
 * Runs in a frame of an opaque origin without network (/ui/frame), which the page for shared chats gives this code as a
 * text, and then the content of a link, which anybody can have made. Shows what a shared chat may consist of, and posts
 * it back, for a file.
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

/** Of pictures, and of the questions, whose line breaks are kept. */
const isKept = (element: Element, name: string): boolean =>
  element.localName === 'img'
    ? name === 'alt' || (name === 'src' && pictures.test(element.getAttribute(name) ?? ''))
    : name === 'class' && element.className === 'said';

/** Removes what a shared chat does not consist of. `body` is of a document in which nothing is loaded or run. */
function clean(body: HTMLElement): void {
  removeComments(body);
  for (const one of body.querySelectorAll('*')) if (one.isConnected && !isKnown(one)) one.replaceWith(one.textContent);
  for (const { name } of [...body.attributes]) body.removeAttribute(name);
  removeAttributes(body, isKept);
  for (const link of body.querySelectorAll('[href]')) {
    const address = safeLink(link.getAttribute('href') ?? '');
    if (!address || address.startsWith('#') || link.localName !== 'a') link.removeAttribute('href');
    else link.setAttribute('href', address);
  }
  const texts = body.ownerDocument.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.nodeValue = escapeBidi(texts.currentNode.nodeValue ?? '');
}

/** Nothing leaves the frame: a link says where it would lead. */
function disarmLinks(body: HTMLElement): void {
  for (const link of body.querySelectorAll('a[href]')) {
    const address = link.getAttribute('href') ?? '';
    link.removeAttribute('href');
    if (link.textContent.replace(/\/$/, '') !== address.replace(/\/$/, '')) link.append(` (${address})`);
  }
}

function show(text: string): void {
  const { title, body } = new DOMParser().parseFromString(text, 'text/html');
  clean(body);
  parent.postMessage({ shown: true, title, body: body.innerHTML }, '*');
  disarmLinks(body);
  // From here on no script can be added either.
  const rule = Object.assign(document.createElement('meta'), { content: policy });
  rule.setAttribute('http-equiv', 'Content-Security-Policy');
  document.head.append(rule);
  document.body.replaceWith(body);
}

addEventListener('gateway', (event) => show((event as CustomEvent<string>).detail), { once: true });

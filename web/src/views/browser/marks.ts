/** Lines that a person draws on a picture of the browser, for a message. */
import { escapeInvisible } from '../../base/escape';
import { t } from '../../base/language';
import { hostOf } from './address';
import type { PageElement, Size } from './live_browser.svelte';
import type { Point } from './pointer';

/** Through the places where the pointer was, in pixels of the view. */
export type Line = readonly Point[];

/** What a person draws, or the box of an element that the message names. */
export interface Mark {
  line: Line;
  element?: PageElement;
}

/** Of the elements that a message names. */
export const maxElements = 5;

/** In pixels of the view. */
export const lineWidth = 4;

/** The lines as a path of SVG. A line of one point is a dot; without a length, a canvas would not draw it. */
export const pathOf = (lines: readonly Line[]): string =>
  lines.map((line) => `M${line.map(({ x, y }) => `${x} ${y}`).join('L')}${line.length > 1 ? '' : 'h.1'}`).join('');

/** Whether the pointer hardly moved: a click and no line. */
export const isClick = ([first, ...rest]: Line): boolean =>
  rest.every(({ x, y }) => Math.hypot(x - (first?.x ?? 0), y - (first?.y ?? 0)) <= lineWidth);

/** A line around the element. */
export const boxOf = ({ x, y, width, height }: PageElement): Line => [
  { x, y },
  { x: x + width, y },
  { x: x + width, y: y + height },
  { x, y: y + height },
  { x, y },
];

/** `image`: a picture of `view`. Returns a JPEG of it with the lines in `color`. Throws if the picture is not there. */
export function withLines(image: HTMLImageElement, view: Size, lines: readonly Line[], color: string): Promise<Blob> {
  const { naturalWidth: width, naturalHeight: height } = image;
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
  context.drawImage(image, 0, 0);
  context.scale(width / view.width, height / view.height);
  Object.assign(context, { strokeStyle: color, lineWidth, lineCap: 'round', lineJoin: 'round' });
  context.stroke(new Path2D(pathOf(lines)));
  return canvas.convertToBlob({ type: 'image/jpeg', quality: 0.9 });
}

/** What a message says about a picture of the page with this address: the address, if others can open it. */
export const wordsAbout = (url: string): string => (/^https?:/.test(url) ? url : '');

/** The element as a block of code, whose fence is longer than any in it. */
function blockOf({ selector, html }: PageElement): string {
  const text = escapeInvisible(`${selector}\n\n${html}`);
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** What a message says about elements of the page. Their texts are not the person's, and could read like an order. */
export const wordsAboutElements = (url: string, elements: readonly PageElement[]): string =>
  [wordsAbout(url), t('Elements of this website, in its words and not mine:'), ...elements.map(blockOf)]
    .filter(Boolean)
    .join('\n\n');

/** The name of the file with a picture of the page with this address. */
export const fileNameOf = (url: string): string => `${hostOf(url).replace(/[^\w.-]+/g, '-') || 'page'}.jpg`;

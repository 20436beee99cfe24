/** Lines that a person draws on a picture of the browser, for a message. */
import { hostOf } from './address';
import type { Size } from './live_browser.svelte';
import type { Point } from './pointer';

/** Through the places where the pointer was, in pixels of the view. */
export type Line = readonly Point[];

/** In pixels of the view. */
export const lineWidth = 4;

/** The lines as a path of SVG. A line of one point is a dot; without a length, a canvas would not draw it. */
export const pathOf = (lines: readonly Line[]): string =>
  lines.map((line) => `M${line.map(({ x, y }) => `${x} ${y}`).join('L')}${line.length > 1 ? '' : 'h.1'}`).join('');

/** The lines with `to` as the new end of the last one. */
export const continued = (lines: readonly Line[], to: Point): Line[] => [
  ...lines.slice(0, -1),
  [...(lines.at(-1) ?? []), to],
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

/** The name of the file with a picture of the page with this address. */
export const fileNameOf = (url: string): string => `${hostOf(url).replace(/[^\w.-]+/g, '-') || 'page'}.jpg`;

/**
 * Draws diagrams (Mermaid) in a frame without network, storage or access to the page. The page passes the code to the
 * frame as text. The result is only shown as an image, in which no script runs either.
 */
import code from '../diagrams/mermaid_frame?worker&url';
import { t } from '../base/language';

export interface Picture {
  svg: string;
  width: number;
  height: number;
  /** The title in the diagram; may be empty. */
  title: string;
}

/** Longer diagrams are shown as their source, because drawing them could keep the browser busy. */
const maxText = 20_000;
const maxPicture = 4_000_000;
/** Milliseconds for one diagram, after which the frame is removed even if it is busy. */
const maxTime = 6_000;
const maxLoading = 30_000;
/** Milliseconds for which the frame is kept for the next diagram. */
const idleTime = 20_000;

/** Resolves with the frame's first message that has `member`; rejects after `within` milliseconds. */
function heard(frame: HTMLIFrameElement, member: string, within: number): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      removeEventListener('message', listen);
      reject(new Error(t('It took too long to draw.')));
    }, within);
    const listen = ({ source, data }: MessageEvent): void => {
      if (source !== frame.contentWindow || typeof data !== 'object' || data === null || !(member in data)) return;
      clearTimeout(timer);
      removeEventListener('message', listen);
      resolve(data as Record<string, unknown>);
    };
    addEventListener('message', listen);
  });
}

let place: HTMLIFrameElement | undefined;
let idle = 0;
let number = 0;
let queue: Promise<unknown> = Promise.resolve();

function leave(): void {
  place?.remove();
  place = undefined;
}

/** Returns a frame that is ready to draw. */
async function frame(): Promise<HTMLIFrameElement> {
  if (place) return place;
  const response = await fetch(code);
  if (!response.ok) throw new Error(t('What draws it could not be loaded.'));
  const script = (await response.text()).replaceAll('</script', '<\\/script');
  const made = document.createElement('iframe');
  made.src = '/ui/frame';
  made.setAttribute('sandbox', 'allow-scripts');
  made.tabIndex = -1;
  made.ariaHidden = 'true';
  // The frame needs a size, because text is measured in it.
  Object.assign(made.style, { position: 'fixed', insetBlockStart: '0', inlineSize: '1280px', blockSize: '800px' });
  Object.assign(made.style, { visibility: 'hidden', border: '0' });
  const isReady = heard(made, 'ready', maxLoading);
  document.body.append(made);
  place = made;
  await isReady;
  const canDraw = heard(made, 'canDraw', maxLoading);
  made.contentWindow?.postMessage({ html: `<!doctype html><body></body><script>${script}</script>`, data: null }, '*');
  await canDraw;
  return made;
}

async function drawn(text: string, dark: boolean, style: string): Promise<Picture> {
  clearTimeout(idle);
  try {
    const made = await frame();
    const { fontFamily } = getComputedStyle(document.body);
    const font = fontFamily.split(',').slice(1).join(',') || 'sans-serif';
    const done = heard(made, 'drawn', maxTime);
    made.contentWindow?.postMessage({ draw: ++number, text, dark, font, style }, '*');
    const answer = await done;
    if (typeof answer.problem === 'string') throw new DiagramError(answer.problem);
    const { svg, width, height, title } = answer;
    if (typeof svg !== 'string' || typeof width !== 'number' || typeof height !== 'number' || svg.length > maxPicture)
      throw new DiagramError(t('It is too large to be drawn.'));
    return { svg, width, height, title: String(title) };
  } catch (error) {
    // After a timeout, the frame may still be busy.
    if (!(error instanceof DiagramError)) leave();
    throw error;
  } finally {
    idle = setTimeout(() => (queue = queue.then(leave)), idleTime) as unknown as number;
  }
}

/** A problem of the diagram itself, not of the frame that draws it. */
class DiagramError extends Error {}

/**
 * Draws the diagram after all that were requested before. `style` is that of the page's root, which contains the colours of
 * an extension's theme; without it, the diagram has the built-in ones.
 */
export function draw(text: string, dark: boolean, style = ''): Promise<Picture> {
  if (text.length > maxText) return Promise.reject(new DiagramError(t('It is too large to be drawn.')));
  const picture = queue.then(() => drawn(text, dark, style));
  queue = picture.catch(() => {});
  return picture;
}

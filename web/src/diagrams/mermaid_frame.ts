/**
 * Runs in a frame with an opaque origin and no network (/ui/frame); the page passes this code to the frame as text.
 * Draws the diagrams that the page posts, and posts each back as SVG, which the page shows as an image.
 */
import mermaid from 'mermaid';

interface Order {
  /** The number of the request, repeated in the response. */
  draw: number;
  text: string;
  dark: boolean;
  font: string;
}

/** Settings that the text of a diagram may not change. */
const secure =
  'secure securityLevel startOnLoad maxTextSize maxEdges suppressErrorRendering htmlLabels layout themeCSS fontFamily altFontFamily'.split(
    ' ',
  );

/** Browsers may not run animation frames here, because this frame is never visible. */
window.requestAnimationFrame = (done) => setTimeout(() => done(performance.now()));

/** An SVG with an explicit size that is well-formed, because browsers parse images as XML. */
function standalone(html: string): { svg: string; width: number; height: number; title: string } {
  const box = document.createElement('div');
  box.innerHTML = html;
  const drawing = box.querySelector('svg');
  if (!drawing) throw new Error('nothing was drawn');
  const { width, height } = drawing.viewBox.baseVal;
  drawing.setAttribute('width', String(width));
  drawing.setAttribute('height', String(height));
  drawing.style.removeProperty('max-width');
  const title = drawing.querySelector(':scope > title')?.textContent ?? '';
  return { svg: new XMLSerializer().serializeToString(drawing), width, height, title };
}

async function draw({ draw: number, text, dark, font }: Order): Promise<void> {
  try {
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: 'strict',
      suppressErrorRendering: true,
      htmlLabels: false,
      theme: dark ? 'dark' : 'default',
      fontFamily: font,
      secure,
      maxEdges: 500,
      layout: 'dagre',
      // The name of the layout that mindmap_layout.ts replaces.
      mindmap: { layout: 'cose-bilkent' },
    });
    const { svg } = await mermaid.render(`diagram-${number}`, text);
    parent.postMessage({ drawn: number, ...standalone(svg) }, '*');
  } catch (error) {
    parent.postMessage({ drawn: number, problem: error instanceof Error ? error.message : String(error) }, '*');
  } finally {
    document.body.replaceChildren();
  }
}

/** Draws one diagram after another, because mermaid's settings are global. */
let queue = Promise.resolve();
addEventListener('message', ({ source, data }: MessageEvent<Order>) => {
  if (source === parent && typeof data?.draw === 'number') queue = queue.then(() => draw(data));
});
parent.postMessage({ canDraw: true }, '*');

/**
 * Runs in a frame of an opaque origin without network (/ui/frame), which the page gives this code as a text: draws the
 * diagrams that the page posts, and posts back each as SVG, which the page shows as a picture.
 */
import mermaid from 'mermaid';

interface Order {
  /** Repeated in the answer. */
  draw: number;
  text: string;
  dark: boolean;
  font: string;
}

/** What a diagram's text may not set. */
const secure =
  'secure securityLevel startOnLoad maxTextSize maxEdges suppressErrorRendering htmlLabels layout themeCSS fontFamily altFontFamily'.split(
    ' ',
  );

/** The frame is never seen, so a browser may not draw it, and not call this. */
window.requestAnimationFrame = (done) => setTimeout(() => done(performance.now()));

/** An SVG that has its own size, and is well-formed: as a picture it is read as XML. */
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
      // By the name of the layout that ours stands for.
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

/** One after the other: mermaid keeps its settings in one place. */
let queue = Promise.resolve();
addEventListener('message', ({ source, data }: MessageEvent<Order>) => {
  if (source === parent && typeof data?.draw === 'number') queue = queue.then(() => draw(data));
});
parent.postMessage({ canDraw: true }, '*');

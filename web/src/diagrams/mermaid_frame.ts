/**
 * Runs in a frame with an opaque origin and no network (/ui/frame); the page passes this code to the frame as text.
 * Draws the diagrams that the page posts, and posts each back as SVG, which the page shows as an image.
 */
import mermaid from 'mermaid';
import { contrast, minContrast, rgb } from '../styles/color';
import tokens from '../styles/tokens.css?inline';
import { legible, themeRules, themeVariables, type Token } from './colors';

interface Order {
  /** The number of the request, repeated in the response. */
  draw: number;
  text: string;
  dark: boolean;
  font: string;
  /** What the page sets on its root: the colours of an extension's theme. */
  style: string;
}

/** Settings that the text of a diagram may not change. */
const secure =
  'secure securityLevel startOnLoad maxTextSize maxEdges suppressErrorRendering htmlLabels layout themeCSS fontFamily altFontFamily'.split(
    ' ',
  );

/** Browsers may not run animation frames here, because this frame is never visible. */
window.requestAnimationFrame = (done) => setTimeout(() => done(performance.now()));

document.head.append(Object.assign(document.createElement('style'), { textContent: tokens }));

/** Gives this frame the colours of the page. Returns what they are. */
function adopt(style: string, dark: boolean): Token {
  const root = document.documentElement;
  root.style.cssText = style;
  root.style.colorScheme = dark ? 'dark' : 'light';
  const probe = document.createElement('i');
  return (name) => {
    document.body.append(probe);
    probe.style.color = `var(--${name})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    return rgb(color);
  };
}

/** A diagram that chooses colours itself (`%%{init}%%` or front matter) gets what mermaid makes of its choice. */
const hasTheme = (text: string): boolean => /\btheme(Variables)?["']?\s*:/.test(text);

const shapes = 'rect, circle, ellipse, polygon, path';

/** Makes text legible in boxes whose colour the diagram chose: `style a fill:#f9f` says nothing about text. */
function mendText(drawing: Element, token: Token): void {
  for (const node of drawing.querySelectorAll('.node, .cluster')) {
    const shape = node.querySelector(shapes);
    const fill = shape && getComputedStyle(shape).fill;
    if (!fill?.startsWith('rgb(')) continue;
    const ground = rgb(fill);
    for (const text of node.querySelectorAll<SVGElement>('text, tspan'))
      if (contrast(ground, rgb(getComputedStyle(text).fill)) < minContrast)
        text.style.setProperty('fill', `rgb(${legible(ground, token('bg'), token('text')).join(' ')})`, 'important');
  }
}

/** An SVG with an explicit size that is well-formed, because browsers parse images as XML. */
function standalone(html: string, token: Token): { svg: string; width: number; height: number; title: string } {
  const box = document.body.appendChild(document.createElement('div'));
  box.innerHTML = html;
  const drawing = box.querySelector('svg');
  if (!drawing) throw new Error('nothing was drawn');
  const { width, height } = drawing.viewBox.baseVal;
  drawing.setAttribute('width', String(width));
  drawing.setAttribute('height', String(height));
  drawing.style.removeProperty('max-width');
  mendText(drawing, token);
  const title = drawing.querySelector(':scope > title')?.textContent ?? '';
  return { svg: new XMLSerializer().serializeToString(drawing), width, height, title };
}

async function draw({ draw: number, text, dark, font, style }: Order): Promise<void> {
  try {
    const token = adopt(style, dark);
    const colors = hasTheme(text)
      ? { theme: dark ? ('dark' as const) : ('default' as const) }
      : { theme: 'base' as const, themeVariables: themeVariables(token, dark), themeCSS: themeRules(token, dark) };
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: 'strict',
      suppressErrorRendering: true,
      htmlLabels: false,
      ...colors,
      fontFamily: font,
      secure,
      maxEdges: 500,
      layout: 'dagre',
      // The name of the layout that mindmap_layout.ts replaces.
      mindmap: { layout: 'cose-bilkent' },
    });
    const { svg } = await mermaid.render(`diagram-${number}`, text);
    parent.postMessage({ drawn: number, ...standalone(svg, token) }, '*');
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

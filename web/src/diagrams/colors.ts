/**
 * The colours of diagrams: the page's own, as variables of mermaid. Text is legible on every ground that it may have,
 * with the colours of an extension's theme too.
 */
import { contrast, minContrast, type Rgb } from '../styles/color';

/** The colour of a token of the page (styles/tokens.css). */
export type Token = (name: string) => Rgb;

/** Different enough from each other, and legible on the page's background. */
const hues = ['accent', 'ok', 'warn', 'code-keyword', 'code-type', 'bad'];
/** One hue for each of the sections that mermaid distinguishes. */
const sections = [...hues, ...hues];

const hex = (color: Rgb): string => `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
const mixed = (one: Rgb, other: Rgb, share: number): Rgb =>
  one.map((part, i) => Math.round(part + ((other[i] ?? 0) - part) * share)) as Rgb;

/** `ground` with up to `share` of `hue`, as much as leaves `text` legible. */
export function tinted(ground: Rgb, hue: Rgb, share: number, text: Rgb): Rgb {
  for (let part = share; part > 0; part -= 0.04) {
    const color = mixed(ground, hue, part);
    if (contrast(color, text) >= minContrast) return color;
  }
  return ground;
}

/** The one of two colours that is easier to read on `ground`. */
export const legible = (ground: Rgb, one: Rgb, other: Rgb): Rgb =>
  contrast(ground, one) >= contrast(ground, other) ? one : other;

const numbered = (name: string, from: number, colors: string[]): [string, string][] =>
  colors.map((color, i) => [`${name}${i + from}`, color]);

export function themeVariables(token: Token, darkMode: boolean): Record<string, unknown> {
  const [ground, text] = [token('bg'), token('text')];
  const tint = (hue: string, share: number): string => hex(tinted(ground, token(hue), share, text));
  const as = (name: string): string => hex(token(name));
  const strong = sections.map(as);
  // The second round of hues is stronger, so that the slices of a pie differ.
  const soft = sections.map((hue, i) => tint(hue, i < hues.length ? 0.2 : 0.36));
  const same = (color: string): string[] => strong.map(() => color);
  const [bg, sub, edge, line] = [as('bg'), as('sub'), as('edge'), as('muted')];
  const fill = tint('accent', 0.16);
  return {
    darkMode,
    background: bg,
    dropShadow: 'none',
    useGradient: false,
    ...Object.fromEntries([
      ...'primaryTextColor secondaryTextColor tertiaryTextColor noteTextColor branchLabelColor quadrant2TextFill quadrant3TextFill quadrant4TextFill taskTextClickableColor'
        .split(' ')
        .map((name) => [name, hex(text)]),
      ...'secondaryBorderColor tertiaryBorderColor activationBorderColor doneTaskBorderColor pieOuterStrokeColor'
        .split(' ')
        .map((name) => [name, edge]),
      ...'secondaryColor tertiaryColor rowEven attributeBackgroundColorEven'.split(' ').map((name) => [name, sub]),
      ...'edgeLabelBackground altSectionBkgColor rowOdd attributeBackgroundColorOdd sequenceNumberColor pieStrokeColor'
        .split(' ')
        .map((name) => [name, bg]),
      ...'lineColor arrowheadColor'.split(' ').map((name) => [name, line]),
      ...numbered('cScale', 0, soft),
      ...numbered('cScaleLabel', 0, same(hex(text))),
      ...numbered('cScaleInv', 0, strong),
      ...numbered('cScalePeer', 0, strong),
      ...numbered('pie', 1, soft),
      ...numbered('fillType', 0, soft.slice(0, 8)),
      ...numbered('quadrant', 1, soft)
        .slice(0, 4)
        .map(([name, color]) => [`${name}Fill`, color]),
      ...numbered('git', 0, strong.slice(0, 8)),
      ...numbered('gitInv', 0, same(hex(text)).slice(0, 8)),
      ...numbered(
        'gitBranchLabel',
        0,
        sections.slice(0, 8).map((hue) => hex(legible(token(hue), ground, text))),
      ),
    ]),
    primaryColor: fill,
    primaryBorderColor: as('accent'),
    noteBkgColor: tint('warn', 0.16),
    noteBorderColor: as('warn'),
    activationBkgColor: as('soft'),
    excludeBkgColor: as('soft'),
    gridColor: edge,
    activeTaskBkgColor: tint('accent', 0.36),
    activeTaskBorderColor: as('accent'),
    doneTaskBkgColor: as('soft'),
    critBkgColor: tint('bad', 0.2),
    critBorderColor: as('bad'),
    todayLineColor: as('bad'),
    vertLineColor: as('accent'),
    quadrantPointFill: as('accent'),
    pieOpacity: '1',
    xyChart: { backgroundColor: bg, plotColorPalette: strong.slice(0, hues.length).join(',') },
  };
}

/**
 * Rules for what no variable sets. Without them, the lines of a mind map have the colours of its boxes, and text on a `rect`
 * of a sequence, for which diagrams usually choose a light colour, is not legible in the dark.
 */
export const themeRules = (token: Token, dark: boolean): string =>
  sections.map((hue, i) => `.section-edge-${i - 1} { stroke: ${hex(token(hue))}; }`).join('\n') +
  (dark ? '\nrect.rect { fill-opacity: 0.2; }' : '');

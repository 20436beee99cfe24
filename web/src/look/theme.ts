/** Themes: the page's own look in light or dark, or the colours of an extension, as far as they can be read. */
import type { Extension } from '../api/types';
import { store, stored } from '../base/storage';

export interface Theme {
  /** The extension's name; none for the page's own look. */
  name?: string;
  /** '' follows the system. */
  scheme: '' | 'light' | 'dark';
  tokens: Record<string, string>;
}

/** The names that a theme's `colors` may have, and the tokens of the page that they set. */
const tokensOf: Record<string, string[]> = {
  background: ['--bg', '--raised'], surface: ['--sub', '--sunk', '--code'], border: ['--edge'], text: ['--text'],
  muted: ['--muted', '--faint'], accent: ['--accent'], 'on-accent': ['--on-accent'], success: ['--ok'], warning: ['--warn'], danger: ['--bad'],
};
/** What has to be readable on background and surface. */
const texts = ['text', 'muted', 'accent', 'success', 'warning', 'danger'];
const leastContrast = 4.5;

export const currentTheme = (): Theme => stored<Theme>('theme', { scheme: '', tokens: {} });

export function applyTheme(theme: Theme): void {
  showTheme(theme);
  store('theme', theme);
}

/** Without keeping it: another tab of this browser has done so. */
export function showTheme(theme: Theme): void {
  const { style } = document.documentElement;
  for (const names of Object.values(tokensOf)) for (const name of names) style.removeProperty(name);
  style.removeProperty('--round');
  if (theme.scheme) style.setProperty('color-scheme', theme.scheme);
  else style.removeProperty('color-scheme');
  for (const [name, value] of Object.entries(theme.tokens)) style.setProperty(name, value);
}

/** A theme that is in use changes with its extension; one that is gone or cannot be read any more leaves the page's own. */
export function followTheme(enabled: Extension[]): void {
  const { name, scheme } = currentTheme();
  if (!name || enabled.length === 0) return;
  const extension = enabled.find((one) => one.name === name);
  try {
    applyTheme(extension ? themeOf(extension) : { scheme, tokens: {} });
  } catch (error) {
    console.warn('the theme is left out:', error);
    applyTheme({ scheme, tokens: {} });
  }
}

/** The theme of an extension. Throws, in words, where it could not be read on the page. */
export function themeOf({ name, definition }: Extension): Theme {
  const colors = (definition.colors ?? {}) as Record<string, string>;
  const scheme = isDark(definition.dark, colors.background) ? 'dark' : 'light';
  const tokens: Record<string, string> = {};
  for (const [color, value] of Object.entries(colors)) {
    if (!CSS.supports('color', value)) throw new Error(`${name}: ${color} is not a colour: ${value}`);
    for (const token of tokensOf[color] ?? []) tokens[token] = value;
  }
  const shown = withOwn(colors, scheme);
  for (const ground of ['background', 'surface']) {
    for (const text of texts) if (colors[text] || (colors[ground] && text === 'text')) check(name, shown, ground, text);
  }
  if (colors.accent || colors['on-accent']) check(name, shown, 'accent', 'on-accent');
  const radius = Number.parseFloat(String(definition.radius ?? ''));
  if (radius >= 0 && radius <= 24) tokens['--round'] = `${radius}px`;
  return { name, scheme, tokens };
}

/** A theme that does not say so is as dark as its background. */
function isDark(said: unknown, background: string | undefined): boolean {
  if (typeof said === 'boolean' || !background) return said === true;
  const black: Rgb = [0, 0, 0];
  return contrast(rgb(background), black) < contrast(rgb(background), [255, 255, 255]);
}

/** The colours of a theme, and the page's own for those that it leaves as they are. */
function withOwn(colors: Record<string, string>, scheme: string): Record<string, string> {
  const root = document.documentElement;
  const kept = root.style.cssText;
  const probe = root.appendChild(document.createElement('i'));
  root.style.cssText = `color-scheme: ${scheme}`;
  const all = { ...colors };
  for (const [color, [token = '']] of Object.entries(tokensOf)) {
    probe.style.color = `var(${token})`;
    all[color] ??= getComputedStyle(probe).color;
  }
  probe.remove();
  root.style.cssText = kept;
  return all;
}

function check(name: string, colors: Record<string, string>, ground: string, text: string): void {
  const [below, above] = [colors[ground], colors[text]];
  if (!below || !above) return;
  const found = contrast(rgb(below), rgb(above));
  if (found < leastContrast) throw new Error(`${name}: ${text} on ${ground} has a contrast of ${found.toFixed(1)}; ${leastContrast} is the least that can be read.`);
}

type Rgb = [number, number, number];

/** Any colour that the browser knows, as it paints it. */
function rgb(color: string): Rgb {
  const context = new OffscreenCanvas(1, 1).getContext('2d');
  if (!context) return [0, 0, 0];
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
  return [red, green, blue];
}

/** By WCAG 2: 1 to 21. */
function contrast(one: Rgb, other: Rgb): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

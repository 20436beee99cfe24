/** Themes: the built-in light and dark theme, or the colours of an extension if they are legible. */
import type { Extension } from '../api/types';
import { store, stored } from '../base/storage';
import { t } from '../base/language';
import { contrast, minContrast, rgb, type Rgb } from './color';

export interface Theme {
  /** The extension's name; undefined for the built-in theme. */
  name?: string;
  /** '' follows the system. */
  scheme: '' | 'light' | 'dark';
  tokens: Record<string, string>;
}

/** The colour names that a theme may set, and the page's tokens for each. */
const tokensOf: Record<string, string[]> = {
  background: ['--bg', '--raised'],
  surface: ['--sub', '--sunk', '--soft', '--code'],
  border: ['--edge'],
  text: ['--text'],
  muted: ['--muted', '--faint'],
  accent: ['--accent'],
  'on-accent': ['--on-accent'],
  success: ['--ok'],
  warning: ['--warn'],
  danger: ['--bad'],
};
/** Colours that must be legible on background and surface. */
const textColors = ['text', 'muted', 'accent', 'success', 'warning', 'danger'];

export const currentTheme = (): Theme => stored<Theme>('theme', { scheme: '', tokens: {} });

export function applyTheme(theme: Theme): void {
  showTheme(theme);
  store('theme', theme);
}

/** Shows a theme without storing it, for themes that another tab has stored. */
export function showTheme(theme: Theme): void {
  const { style } = document.documentElement;
  for (const names of Object.values(tokensOf)) for (const name of names) style.removeProperty(name);
  style.removeProperty('--round');
  if (theme.scheme) style.setProperty('color-scheme', theme.scheme);
  else style.removeProperty('color-scheme');
  for (const [name, value] of Object.entries(theme.tokens)) style.setProperty(name, value);
}

/**
 * Applies changes to the current theme's extension. Falls back to the built-in theme if the extension is missing or
 * invalid.
 */
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

/** The theme of an extension. Throws an error with a readable message if it would not be legible. */
export function themeOf({ name, definition }: Extension): Theme {
  const colors = (definition.colors ?? {}) as Record<string, string>;
  const scheme = isDark(definition.dark, colors.background) ? 'dark' : 'light';
  const tokens: Record<string, string> = {};
  for (const [color, value] of Object.entries(colors)) {
    if (!CSS.supports('color', value))
      throw new Error(t('{name}: {color} is not a colour: {value}', { name, color, value }));
    for (const token of tokensOf[color] ?? []) tokens[token] = value;
  }
  const shown = withDefaults(colors, scheme);
  for (const ground of ['background', 'surface']) {
    for (const text of textColors)
      if (colors[text] || (colors[ground] && text === 'text')) checkContrast(name, shown, ground, text);
  }
  if (colors.accent || colors['on-accent']) checkContrast(name, shown, 'accent', 'on-accent');
  const radius = Number.parseFloat(String(definition.radius ?? ''));
  if (radius >= 0 && radius <= 24) tokens['--round'] = `${radius}px`;
  return { name, scheme, tokens };
}

/** A theme that does not define `dark` is dark if its background is. */
function isDark(said: unknown, background: string | undefined): boolean {
  if (typeof said === 'boolean' || !background) return said === true;
  const black: Rgb = [0, 0, 0];
  return contrast(rgb(background), black) < contrast(rgb(background), [255, 255, 255]);
}

/** The theme's colours, with the built-in ones for those that it does not set. */
function withDefaults(colors: Record<string, string>, scheme: string): Record<string, string> {
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

function checkContrast(name: string, colors: Record<string, string>, ground: string, text: string): void {
  const [below, above] = [colors[ground], colors[text]];
  if (!below || !above) return;
  const found = contrast(rgb(below), rgb(above));
  if (found < minContrast)
    throw new Error(
      t('{name}: {text} on {ground} has a contrast of {found}; at least {minContrast} is needed.', {
        name,
        text,
        ground,
        found: found.toFixed(1),
        minContrast,
      }),
    );
}

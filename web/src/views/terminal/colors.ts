/** The colours of the page as a theme of xterm, which does not support CSS variables. */
import type { ITheme } from '@xterm/xterm';

const tokens: Record<string, string> = {
  background: '--bg',
  foreground: '--text',
  cursor: '--text',
  cursorAccent: '--bg',
  selectionBackground: '--sel',
  black: '--text',
  red: '--bad',
  green: '--ok',
  yellow: '--warn',
  blue: '--accent',
  magenta: '--code-keyword',
  cyan: '--code-type',
  white: '--muted',
};

/** `element`: any element of the page. */
export function terminalColors(element: HTMLElement): ITheme {
  const probe = document.createElement('span');
  element.append(probe);
  const theme: Record<string, string> = {};
  for (const [name, token] of Object.entries(tokens)) {
    probe.style.color = `var(${token})`;
    theme[name] = getComputedStyle(probe).color;
    theme[`bright${name.charAt(0).toUpperCase()}${name.slice(1)}`] = theme[name];
  }
  probe.remove();
  return theme as ITheme;
}

// @ts-expect-error: the page has no type definitions of Node.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contrast, type Rgb } from '../styles/color';
import { legible, themeVariables, tinted } from './colors';

const parsed = (hex: string): Rgb => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as Rgb;
const css = readFileSync('src/styles/tokens.css', 'utf8') as string;
const tokens = (dark: boolean) => (name: string) => {
  const [, light = '', other = ''] = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(css) ?? [];
  if (!light) throw new Error(`no token ${name}`);
  return parsed(dark ? other : light);
};

test.each([false, true])('text is legible on the colours of each section (dark: %s)', (dark) => {
  const values = themeVariables(tokens(dark), dark) as Record<string, string>;
  const on = (text: string, ground: string): void =>
    expect(contrast(parsed(values[text] ?? ''), parsed(values[ground] ?? '')), `${text} on ${ground}`).toBeGreaterThan(
      4.5,
    );
  for (let i = 0; i < 12; i++) {
    on(`cScaleLabel${i}`, `cScale${i}`);
    on('primaryTextColor', `pie${i + 1}`);
  }
  for (let i = 0; i < 8; i++) on(`gitBranchLabel${i}`, `git${i}`);
  for (const ground of ['primaryColor', 'secondaryColor', 'critBkgColor', 'activeTaskBkgColor', 'doneTaskBkgColor'])
    on('primaryTextColor', ground);
  on('noteTextColor', 'noteBkgColor');
});

test('a tint leaves text legible that has just enough contrast', () => {
  const ground: Rgb = [255, 255, 255];
  const text: Rgb = [118, 118, 118];
  expect(contrast(tinted(ground, [255, 0, 0], 0.4, text), text)).toBeGreaterThan(4.5);
  expect(tinted(ground, [0, 0, 0], 0.4, text)).toEqual(ground);
});

test('text on a colour that the diagram chose is the darker or the lighter one', () => {
  const dark: Rgb = [22, 25, 31];
  const light: Rgb = [232, 234, 238];
  expect(legible([255, 153, 255], dark, light)).toEqual(dark);
  expect(legible([40, 0, 90], dark, light)).toEqual(light);
});

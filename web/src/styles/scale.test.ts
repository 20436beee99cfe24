// @ts-expect-error: the page has no type definitions of Node.
import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = 'src';
const files = (readdirSync(root, { recursive: true }) as string[]).filter((name) => /\.(svelte|css)$/.test(name));
const tokens = readFileSync(`${root}/styles/tokens.css`, 'utf8');

/** The values of all matching declarations, each prefixed with the name of its file. */
const valuesOf = (property: RegExp): string[] =>
  files.flatMap((name) =>
    [...readFileSync(`${root}/${name}`, 'utf8').matchAll(property)].map(([, value]) => `${name}: ${value}`),
  );

test('font sizes are those of the scale', () => {
  // Fields have 16 pixels on phones: browsers zoom into smaller ones. Code and formulas are relative to their text.
  const allowed = /: (var\(--size-\w+\)|16px|[\d.]+em|inherit)$/;
  expect(valuesOf(/font-size: ([^;]+);/g).filter((one) => !allowed.test(one))).toEqual([]);
});

test('corners are those of the scale, circles and lines', () => {
  const allowed = /: ((var\(--round(-small)?\)|0|50%|2px|999px)( |$))+$/;
  expect(valuesOf(/border-radius: ([^;]+);/g).filter((one) => !allowed.test(one))).toEqual([]);
});

test('spacing is that of the scale, or a hairline', () => {
  const declared = /^\s*((?:padding|margin|gap|row-gap|column-gap)(?:-[a-z-]+)?: [^;{}]+);/gm;
  const length = /(?<![\w.-])-?[\d.]+(px|rem|em)\b/g;
  const strays = valuesOf(declared).filter((one) => (one.match(length) ?? []).some((found) => found !== '1px'));
  expect(strays).toEqual([]);
});

/** The light and the dark colour of a token. */
function colours(name: string): [string, string] {
  const [, light = '', dark = ''] = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(tokens) ?? [];
  return [light, dark];
}

/** The relative luminance of WCAG 2. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = parseInt(hex.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const grounds = ['bg', 'sub', 'sunk', 'code', 'raised', 'soft', 'sel'];
const texts = ['text', 'muted', 'faint', 'accent', 'ok', 'warn', 'bad'];
const lower = (ground: string): string[] => grounds.filter((one) => one !== ground);

for (const [theme, index] of [
  ['light', 0],
  ['dark', 1],
] as const) {
  test(`text is legible on every surface of the ${theme} theme`, () => {
    const weak = grounds.flatMap((ground) =>
      texts
        .map((text) => ({ text, ground, found: contrast(colours(text)[index], colours(ground)[index]) }))
        .filter(({ found }) => !(found >= 4.5)),
    );
    expect(weak).toEqual([]);
  });

  test(`marked text and controls of the ${theme} theme have enough contrast`, () => {
    const pair = (one: string, other: string): number => contrast(colours(one)[index], colours(other)[index]);
    expect(pair('on-accent', 'accent')).toBeGreaterThan(4.5);
    expect(pair('warn', 'warn-ground')).toBeGreaterThan(4.5);
    for (const ground of ['add', 'del']) expect(pair('text', ground)).toBeGreaterThan(4.5);
    for (const ground of lower('sel').filter((one) => one !== 'soft')) expect(pair('edge', ground)).toBeGreaterThan(3);
    for (const name of ['keyword', 'string', 'number', 'comment', 'function', 'type'])
      expect(pair(`code-${name}`, 'code')).toBeGreaterThan(4.5);
  });
}

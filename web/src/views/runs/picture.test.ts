import { expect, test } from 'vitest';
import { outline, type Span } from './picture';

const span = (at: number, took: number): Span => ({
  key: String(at),
  kind: 'tool',
  name: 'Read',
  detail: '',
  at,
  took,
  waited: 0,
  failed: false,
});
const tookOf = ({ took }: Span): number => took;

test('separate spans are drawn separately, and adjacent ones as one', () => {
  const spans = [span(0, 100), span(50, 100), span(150, 50), span(400, 100), span(600, 0), span(900, 100)];
  expect(outline(spans, 1000, tookOf)).toBe(
    'M0.0 0h200.0v10h-200.0zM400.0 0h100.0v10h-100.0zM900.0 0h100.0v10h-100.0z',
  );
});

test('thousands of short spans are drawn as a few', () => {
  const spans = Array.from({ length: 5000 }, (_, i) => span(i * 20, 10));
  expect(outline(spans, 100_000, tookOf)).toBe('M0.0 0h1001.3v10h-1001.3z');
  expect(outline([], 1, tookOf)).toBe('');
});

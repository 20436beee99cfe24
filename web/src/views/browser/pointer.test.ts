import { beforeEach, expect, test } from 'vitest';
import { InputQueue, joined, placeIn, wheelMessage, type MouseMessage } from './pointer';

const box = { left: 100, top: 50, width: 400, height: 300 } as DOMRect;
const at = (clientX: number, clientY: number): { clientX: number; clientY: number } => ({ clientX, clientY });
const move = (x: number, buttons = 0): MouseMessage => ({ type: 'mouse', action: 'move', x, y: 1, buttons });
const wheel = (deltaY: number): MouseMessage => ({ type: 'mouse', action: 'wheel', x: 1, y: 1, deltaX: 0, deltaY });

let frames: (() => void)[] = [];
beforeEach(() => {
  frames = [];
  globalThis.requestAnimationFrame = (run) => frames.push(() => run(0));
  globalThis.cancelAnimationFrame = () => (frames = []);
});

test('a place in the picture is one in the view, however large the picture is shown', () => {
  expect(placeIn({ width: 400, height: 300 }, box, at(110, 70))).toEqual({ x: 10, y: 20 });
  expect(placeIn({ width: 800, height: 600 }, box, at(110, 70))).toEqual({ x: 20, y: 40 });
  // Another person's panel is wider: the picture does not fill the height.
  expect(placeIn({ width: 800, height: 300 }, box, at(300, 100))).toEqual({ x: 400, y: 100 });
});

test('places outside of the picture are at its edge', () => {
  expect(placeIn({ width: 400, height: 300 }, box, at(0, 1000))).toEqual({ x: 0, y: 299 });
});

test('moves are replaced, and turns of the wheel added, within a frame', () => {
  expect(joined(move(1), move(2))).toEqual(move(2));
  expect(joined(move(1), move(2, 1))).toBeNull();
  expect(joined(wheel(3), wheel(4))).toMatchObject({ deltaY: 7 });
  expect(joined(move(1), wheel(4))).toBeNull();
});

test('other input is sent after what waits for the frame', () => {
  const sent: object[] = [];
  const queue = new InputQueue((message) => sent.push(message));
  for (const message of [move(1), move(2), wheel(3), wheel(4)]) queue.sendInFrame(message);
  queue.send({ type: 'key' });
  queue.sendInFrame(move(5));
  expect(sent).toMatchObject([{ x: 2 }, { deltaY: 7 }, { type: 'key' }]);
  for (const run of frames) run();
  expect(sent.at(-1)).toMatchObject({ x: 5 });
});

test('lines and pages of a wheel are pixels, and Shift turns it sideways', () => {
  const turned = { deltaX: 0, deltaY: 3, deltaMode: 1, shiftKey: true } as WheelEvent;
  expect(wheelMessage(turned, { x: 1, y: 2 })).toMatchObject({ deltaX: 120, deltaY: 0, modifiers: 8 });
});

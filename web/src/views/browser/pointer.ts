/** Where a pointer is in the view of the browser, and how its events become messages. */
import { modifiersOf } from './keys';
import type { Size } from './live_browser.svelte';

export interface Point {
  x: number;
  y: number;
}

export interface MouseMessage extends Point {
  type: 'mouse';
  action: 'move' | 'down' | 'up' | 'wheel';
  button?: string;
  buttons?: number;
  clicks?: number;
  deltaX?: number;
  deltaY?: number;
  modifiers?: number;
}

/** The place in the view that is shown at a place in the window. The picture fills `box` from its top left corner. */
export function placeIn(view: Size, box: DOMRect, { clientX, clientY }: { clientX: number; clientY: number }): Point {
  const scale = Math.min(box.width / view.width, box.height / view.height) || 1;
  const within = (at: number, length: number): number => Math.max(0, Math.min(length - 1, Math.round(at / scale)));
  return { x: within(clientX - box.left, view.width), y: within(clientY - box.top, view.height) };
}

const buttons = ['left', 'middle', 'right'];

export const mouseMessage = (event: MouseEvent, action: 'move' | 'down' | 'up', at: Point): MouseMessage => ({
  type: 'mouse',
  action,
  ...at,
  buttons: event.buttons,
  modifiers: modifiersOf(event),
  ...(action !== 'move' && { button: buttons[event.button] ?? 'left', clicks: Math.max(1, event.detail) }),
});

/** Pixels of a line and of a page, by `WheelEvent.deltaMode`. */
const steps = [1, 40, 600];

export function wheelMessage(event: WheelEvent, at: Point): MouseMessage {
  const step = steps[event.deltaMode] ?? 1;
  // With Shift, a wheel turns sideways. Some browsers have already swapped the directions.
  const isSwapped = event.shiftKey && !event.deltaX;
  const [deltaX, deltaY] = isSwapped ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
  return {
    type: 'mouse',
    action: 'wheel',
    ...at,
    deltaX: deltaX * step,
    deltaY: deltaY * step,
    modifiers: modifiersOf(event),
  };
}

/** Two moves in one frame are the later one, two turns of the wheel their sum. null if both have to be sent. */
export function joined(before: MouseMessage, after: MouseMessage): MouseMessage | null {
  if (before.action !== after.action || before.buttons !== after.buttons) return null;
  if (after.action === 'move') return after;
  if (after.action !== 'wheel' || before.modifiers !== after.modifiers) return null;
  const sum = (name: 'deltaX' | 'deltaY'): number => (before[name] ?? 0) + (after[name] ?? 0);
  return { ...after, deltaX: sum('deltaX'), deltaY: sum('deltaY') };
}

/** Sends input in order, and moves and turns of the wheel at most once in a frame. */
export class InputQueue {
  #waiting: MouseMessage | null = null;
  #frame = 0;

  constructor(readonly deliver: (message: object) => void) {}

  send(message: object): void {
    this.flush();
    this.deliver(message);
  }

  sendInFrame(message: MouseMessage): void {
    const both = this.#waiting && joined(this.#waiting, message);
    if (!both) this.flush();
    this.#waiting = both ?? message;
    this.#frame ||= requestAnimationFrame(() => this.flush());
  }

  flush(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const message = this.#waiting;
    this.#waiting = null;
    if (message) this.deliver(message);
  }
}

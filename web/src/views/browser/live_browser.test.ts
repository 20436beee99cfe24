import { beforeEach, expect, test, vi } from 'vitest';

vi.mock('../../state/session.svelte', () => ({ session: { token: 'secret' } }));
const { LiveBrowser } = await import('./live_browser.svelte');

/** Stands for the gateway's end of the connection. */
class FakeSocket {
  readyState = 1;
  sent: Record<string, unknown>[] = [];
  onopen = (): void => {};
  onmessage: ((_: { data: string }) => void) | null = () => {};
  onclose = (): void => {};
  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }
  close(): void {
    this.readyState = 3;
  }
  say(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
  lose(): void {
    this.readyState = 3;
    this.onclose();
  }
}

let sockets: FakeSocket[] = [];
const last = (): FakeSocket => sockets.at(-1) as FakeSocket;
const tabs = (url: string): object => ({
  type: 'tabs',
  tabs: [{ id: 'a', title: 'Docs', url, isLoading: false }],
  activeId: 'a',
  canGoBack: true,
  canGoForward: false,
});

/** A browser that is open. */
function opened(): InstanceType<typeof LiveBrowser> {
  const live = new LiveBrowser('t1', () => {
    const socket = new FakeSocket();
    sockets.push(socket);
    return socket as unknown as WebSocket;
  });
  live.resize({ width: 500.4, height: 40 });
  begin(true);
  return live;
}

function begin(isNew: boolean): void {
  last().onopen();
  last().say({ type: 'opened', isNew });
}

beforeEach(() => {
  sockets = [];
  vi.useFakeTimers();
});

test('the browser of the chat is opened in the size of the panel', () => {
  const live = opened();
  expect(last().sent[0]).toEqual({ type: 'open', threadId: 't1', width: 500, height: 100 });
  expect(live.isOpen).toBe(true);
  live.resize({ width: 600, height: 700 });
  expect(last().sent.at(-1)).toEqual({ type: 'resize', width: 600, height: 700 });
});

test('tabs and pictures are those of the latest messages', () => {
  const live = opened();
  last().say(tabs('http://localhost:5173/docs'));
  last().say({ type: 'frame', seq: 7, data: 'AAAA', width: 500, height: 100 });
  expect([live.active?.title, live.host, live.canGoBack]).toEqual(['Docs', 'localhost:5173', true]);
  expect(live.picture).toEqual({ seq: 7, src: 'data:image/jpeg;base64,AAAA', width: 500, height: 100 });
});

test('a lost connection is made again, and a browser that is gone is opened where it was', () => {
  const live = opened();
  last().say(tabs('http://localhost:5173/docs'));
  last().say({ type: 'closed', reason: 'stopped' });
  last().lose();
  expect([live.isOpen, live.ended]).toEqual([false, null]);
  vi.advanceTimersByTime(1000);
  begin(true);
  expect(sockets.length).toBe(2);
  expect(last().sent).toContainEqual({ type: 'go', to: 'http://localhost:5173/docs' });
});

test('a browser that is still there is left where it is', () => {
  opened();
  last().say(tabs('http://localhost:5173/docs'));
  last().lose();
  vi.advanceTimersByTime(1000);
  begin(false);
  expect(last().sent.map(({ type }) => type)).not.toContain('go');
});

test('an address that is entered before the browser is open waits for it', () => {
  const live = opened();
  last().lose();
  live.go('example.org');
  live.go('back');
  vi.advanceTimersByTime(1000);
  begin(false);
  expect(last().sent.slice(1)).toEqual([{ type: 'go', to: 'example.org' }]);
});

test('the end of the browser has a reason, and it can be opened again', () => {
  const live = opened();
  last().say({ type: 'closed', reason: 'idle' });
  expect(live.ended).toContain('30 minutes');
  live.openAgain();
  begin(true);
  expect([live.isOpen, live.ended]).toEqual([true, null]);
});

test('a person who ends the browser leaves at once', () => {
  const live = opened();
  live.end();
  expect(last().sent.at(-1)).toEqual({ type: 'close' });
  expect([live.isOpen, live.ended, last().readyState]).toEqual([false, 'Ended.', 3]);
});

test('an error before the browser is open ends the attempt, and a later one does not', () => {
  const live = opened();
  last().say({ type: 'error', status: 404, error: 'tab not found' });
  expect([live.problem, live.ended]).toEqual(['tab not found', null]);
  last().lose();
  vi.advanceTimersByTime(1000);
  last().say({ type: 'error', status: 503, error: 'no browser is installed: install chromium' });
  expect(live.ended).toBe('no browser is installed: install chromium');
});

test('a refused host is shown once, and the page is loaded again when it is allowed', () => {
  const live = opened();
  const refusal = { type: 'refused', host: 'localhost:5173', reason: 'private', canAllow: true };
  last().say(refusal);
  last().say(refusal);
  expect(live.refusals.length).toBe(1);
  live.allow(live.refusals[0] as (typeof live.refusals)[0]);
  expect(live.refusals).toEqual([]);
  expect(last().sent.slice(-2)).toEqual([
    { type: 'allow', host: 'localhost:5173' },
    { type: 'go', to: 'reload' },
  ]);
});

test('an element is asked for once at a time, and answered also if it is not there', () => {
  const live = opened();
  const answers: unknown[] = [];
  const ask = (): void => live.inspect({ x: 1, y: 2 }, (answer) => answers.push(answer));
  ask();
  ask();
  expect(last().sent.filter(({ type }) => type === 'inspect')).toEqual([{ type: 'inspect', x: 1, y: 2 }]);
  last().say({ type: 'inspected', selector: '#save' });
  ask();
  last().say({ type: 'error', status: 404, error: 'no element there' });
  last().say({ type: 'error', status: 404, error: 'tab not found' });
  ask();
  last().lose();
  ask();
  expect(answers).toEqual([{ type: 'inspected', selector: '#save' }, 'no element there', 'Connecting…', 'Connecting…']);
  expect(live.problem).toBe('tab not found');
});

test('a question of the site is answered once, with text if it is a prompt', () => {
  const live = opened();
  last().say({ type: 'dialog', kind: 'prompt', message: 'Name?', default: 'me' });
  expect(live.dialog?.message).toBe('Name?');
  live.answer(true, 'you');
  expect(last().sent.at(-1)).toEqual({ type: 'dialog', accept: true, text: 'you' });
  expect(live.dialog).toBeNull();
});

test('what an agent does is shown for some seconds', () => {
  const live = opened();
  last().say({ type: 'agent', action: 'assistant: clicks “Sign in”' });
  expect(live.action).toContain('Sign in');
  vi.advanceTimersByTime(6000);
  expect(live.action).toBe('');
});

test('unknown messages are ignored', () => {
  const live = opened();
  last().say({ type: 'weather' });
  expect(live.isOpen).toBe(true);
});

import { expect, test } from 'vitest';
import { ApiError, get } from './client';

test('a response that is cut in the middle is reported like one that did not arrive', async () => {
  Object.assign(globalThis, { location: { origin: 'http://gateway.test' } });
  globalThis.fetch = () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"half":'));
        controller.error(new TypeError('network error'));
      },
    });
    return Promise.resolve(new Response(body));
  };
  const error = await get('/models').catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).isTransient).toBe(true);
});

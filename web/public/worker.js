// The service worker: shows notifications that are pushed while the page is closed, and opens the page. It caches nothing
// and has no token.
const home = '/ui/';

/** The gateway encrypts its notices. Any other push is only mentioned, without its content. */
function noticeOf(data) {
  try {
    const { body, url, topic } = data.json();
    return { body: String(body), url: String(url), topic: String(topic) };
  } catch {
    return { body: 'Something has happened.', url: home, topic: 'unknown' };
  }
}

/** An address of the page, regardless of the request. */
function addressOf(url) {
  const address = new URL(url, location.origin);
  return address.origin === location.origin && address.pathname === home
    ? address.href
    : new URL(home, location.origin).href;
}

async function open(url) {
  const windows = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const page = windows.find((client) => new URL(client.url).pathname === home);
  if (!page) return clients.openWindow(url);
  await page.focus();
  // Only the part after # changes, so the page is not reloaded. The worker cannot navigate a page that it does not control.
  return page.navigate(url).catch(() => clients.openWindow(url));
}

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));

addEventListener('push', (event) => {
  const { body, url, topic } = noticeOf(event.data);
  const options = { body, tag: topic, data: addressOf(url), icon: '/ui/icon-192.png', renotify: true };
  event.waitUntil(registration.showNotification('Agent Gateway', options));
});

addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(addressOf(event.notification.data)));
});

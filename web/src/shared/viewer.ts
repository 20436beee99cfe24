/**
 * The page for shared chats, whose content is in its address, or stored by the gateway, encrypted with a key that is in
 * the address. It needs no token, and reads no other data of the gateway.
 */
import { download } from '../base/download';
import { language, locale, t } from '../base/language';
import '../styles/tokens.css';
import { documentOf, fileName, styles } from './contents';
import { unpacked } from './link';
import code from './shared_frame?worker&url';
import { fetchStored, isStored, NotShown } from './stored';
import './viewer.css';

const bar = document.createElement('header');
bar.append(
  Object.assign(document.createElement('h1'), { textContent: t('Shared chat') }),
  t('Anyone could have made this link; the gateway did not check what it says.'),
);

function save(title: string, body: string): void {
  download(fileName(title), documentOf(title, language, `<body>${body}</body>`), 'text/html');
}

/** Creates the frame for the chat. The frame posts the shown content back once, for saving as a file. */
function frame(html: string, text: string): HTMLIFrameElement {
  const made = document.createElement('iframe');
  made.title = t('Shared chat');
  made.src = '/ui/frame';
  made.setAttribute('sandbox', 'allow-scripts');
  let isGiven = false;
  let isShown = false;
  addEventListener('message', ({ source, data }: MessageEvent) => {
    if (source !== made.contentWindow || typeof data !== 'object' || data === null) return;
    const { ready, title, body } = data as Record<string, unknown>;
    if (ready === true && !isGiven) {
      isGiven = true;
      made.contentWindow?.postMessage({ html, data: text }, '*');
    } else if (typeof title === 'string' && typeof body === 'string' && !isShown) {
      isShown = true;
      const button = Object.assign(document.createElement('button'), { textContent: t('Save as file') });
      button.onclick = () => save(title, body);
      bar.append(button);
    }
  });
  return made;
}

/** The HTML of the chat. */
async function content(): Promise<string> {
  if (!isStored(location.hash)) return unpacked(location.hash);
  const { text, until } = await fetchStored(location.hash);
  const time = until && new Date(until).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' });
  if (time) bar.append(` ${t('The link works until {time}.', { time })}`);
  return text;
}

function explain(error: unknown): string {
  if (error instanceof RangeError) return t('This link contains more than a chat may be. It was not opened.');
  if (!(error instanceof NotShown))
    return t('This link contains no chat, or only a part of one: programs cut long links. Ask for the chat as a file.');
  return {
    ended: t('This link does not work any more: it has ended or was taken back.'),
    key: t('This link is incomplete or was changed, so the chat stays encrypted. Ask for the link again.'),
    unreachable: t('The gateway could not be reached.'),
  }[error.reason];
}

async function show(): Promise<HTMLElement> {
  try {
    const text = await content();
    const response = await fetch(code);
    if (!response.ok) throw new Error(`${response.status}`);
    const script = (await response.text()).replaceAll('</script', '<\\/script');
    const head = `<meta charset="utf-8"><title>chat</title><style>${styles}</style><script>${script}</script>`;
    return frame(`<!doctype html><html lang="${language}"><head>${head}</head><body></body></html>`, text);
  } catch (error) {
    console.warn('no chat is shown:', error);
    const problem = document.createElement('p');
    problem.textContent = explain(error);
    return problem;
  }
}

document.documentElement.lang = language;
document.title = t('Shared chat');
const main = document.createElement('main');
document.body.append(bar, main);
// Another link was opened in the same tab.
addEventListener('hashchange', () => location.reload());
main.append(await show());

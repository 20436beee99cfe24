/** What keys, and the input methods of phones and other languages, do in the browser of a chat. */

/** The part of a KeyboardEvent that counts. */
export type Key = Pick<
  KeyboardEvent,
  'key' | 'code' | 'keyCode' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'getModifierState'
>;

/** What the panel does itself. `forward` and `onward`: to the next page, and to what follows the picture. */
export type Command =
  'leave' | 'onward' | 'address' | 'copy' | 'cut' | 'paste' | 'reload' | 'back' | 'forward' | 'nothing';

export interface KeyMessage {
  type: 'key';
  action: 'down' | 'up';
  key: string;
  code: string;
  keyCode: number;
  text?: string;
  modifiers: number;
}

const isApple = /^(Mac|iP)/.test(globalThis.navigator?.platform ?? '');

const shiftMask = 8;

/** The bit mask of the DevTools protocol. On Apple's systems Command is Ctrl: the browser of the gateway runs on Linux. */
export const modifiersOf = ({
  altKey,
  ctrlKey,
  metaKey,
  shiftKey,
}: Omit<Key, 'getModifierState'> | MouseEvent): number =>
  (altKey ? 1 : 0) | (ctrlKey || (isApple && metaKey) ? 2 : 0) | (shiftKey ? shiftMask : 0);

/** By key codes, which are those of Latin letters in other scripts, too. */
const withControl: Record<number, Command> = { 67: 'copy', 88: 'cut', 86: 'paste', 82: 'reload', 76: 'address' };
const alone: Record<string, Command> = {
  F5: 'reload',
  // A dead key begins a composition, which is reported as text.
  Dead: 'nothing',
  Process: 'nothing',
  Unidentified: 'nothing',
  AltGraph: 'nothing',
  Meta: 'nothing',
};

/** What the panel does at a key that it keeps from the site; null for all others. */
export function commandOf(event: Key, apple = isApple): Command | null {
  const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
  if (key === 'F6') return shiftKey ? 'onward' : 'leave';
  if (isTyped(event, apple)) return null;
  const control = apple ? metaKey : ctrlKey;
  if (control && !altKey && (!shiftKey || event.keyCode === 86)) return withControl[event.keyCode] ?? null;
  if (altKey && !apple && key === 'ArrowLeft') return 'back';
  if (altKey && !apple && key === 'ArrowRight') return 'forward';
  if (key === 'Meta' && apple) return null;
  return alone[key] ?? null;
}

/** Whether the key types its character. AltGr is Ctrl and Alt on Windows; Option types characters on Apple's systems. */
function isTyped(event: Key, apple: boolean): boolean {
  if ([...event.key].length !== 1) return false;
  const { altKey, ctrlKey, metaKey } = event;
  return event.getModifierState('AltGraph') || (!ctrlKey && !metaKey && (!altKey || apple));
}

export function keyMessage(event: Key, action: KeyMessage['action'], apple = isApple): KeyMessage {
  const { key, code, keyCode } = event;
  const message = { type: 'key' as const, action, key, code, keyCode, modifiers: modifiersOf(event) };
  if (key === 'Meta') return { ...message, key: 'Control', code: 'ControlLeft', keyCode: 17 };
  if (key === 'Enter') return { ...message, text: '\r' };
  if (!isTyped(event, apple)) return message;
  return { ...message, text: key, modifiers: message.modifiers & shiftMask };
}

const ofInput: Record<string, [key: string, keyCode: number, modifiers: number, text?: string]> = {
  deleteContentBackward: ['Backspace', 8, 0],
  deleteWordBackward: ['Backspace', 8, 2],
  deleteContentForward: ['Delete', 46, 0],
  insertLineBreak: ['Enter', 13, 0, '\r'],
  insertParagraph: ['Enter', 13, 0, '\r'],
};

/** The keys that an input without keys stands for, as from the keyboard on a phone's screen: down and up, or none. */
export function keysOfInput(inputType: string): KeyMessage[] {
  const found = ofInput[inputType];
  if (!found) return [];
  const [key, keyCode, modifiers, text] = found;
  const message = { type: 'key' as const, key, code: key, keyCode, modifiers };
  return [
    { ...message, action: 'down', ...(text && { text }) },
    { ...message, action: 'up' },
  ];
}

/** How `before` becomes `after`: characters to remove from its end, and text to add. */
export function changeOf(before: string, after: string): { removed: number; added: string } {
  const [was, is] = [[...before], [...after]];
  const at = was.findIndex((character, i) => character !== is[i]);
  const same = at < 0 ? was.length : at;
  return { removed: was.length - same, added: is.slice(same).join('') };
}

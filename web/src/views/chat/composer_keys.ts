/** The keyboard commands of the composer. */

export interface ComposerState {
  hasSuggestions: boolean;
  /** An answer is active. */
  canStop: boolean;
  isEmpty: boolean;
  /** False on touch screens, where Enter inserts a line break. */
  enterSends: boolean;
}

export type ComposerCommand =
  'next' | 'previous' | 'accept' | 'close' | 'stop' | 'send' | 'steer' | 'interrupt' | 'recall';

const ofSuggestions: Record<string, ComposerCommand> = {
  ArrowDown: 'next',
  ArrowUp: 'previous',
  Tab: 'accept',
  Enter: 'accept',
  Escape: 'close',
};

export function commandOf(
  { key, shiftKey, ctrlKey, metaKey }: Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey'>,
  state: ComposerState,
): ComposerCommand | undefined {
  if (key === 'Enter' && (ctrlKey || metaKey)) {
    if (!state.canStop) return 'send';
    return shiftKey ? 'interrupt' : 'steer';
  }
  const command = state.hasSuggestions ? ofSuggestions[key] : undefined;
  if (command && !(command === 'accept' && shiftKey)) return command;
  if (key === 'Escape' && state.canStop) return 'stop';
  if (key === 'Enter' && !shiftKey && state.enterSends) return 'send';
  if (key === 'ArrowUp' && state.isEmpty) return 'recall';
  return undefined;
}

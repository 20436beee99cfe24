/**
 * Takes the files that are dropped on the page: those dropped on a chat go to its message box. A browser opens any other
 * dropped file in place of the page. Loaded soon after the page, with the entries of the palette.
 */
import { toasts } from '../../base/toasts.svelte';
import { t } from '../../base/language';

/** The file input of the chat under the pointer. Nothing else takes files. */
const inputAt = (target: EventTarget | null): HTMLInputElement | null | undefined =>
  document.querySelector('dialog:modal')
    ? null
    : (target as Element).closest('.chats > section')?.querySelector('input[type=file]');

function dragged(event: DragEvent): void {
  const { dataTransfer: data, target, type } = event;
  if (!data?.types.includes('Files')) return;
  event.preventDefault();
  const input = inputAt(target);
  data.dropEffect = input ? 'copy' : 'none';
  if (input && type === 'drop') attach(data.items, input);
}

function attach(items: DataTransferItemList, input: HTMLInputElement): void {
  const files = new DataTransfer();
  for (const item of items) {
    const file = item.getAsFile();
    if (item.webkitGetAsEntry()?.isDirectory)
      toasts.error(t('Folders cannot be attached. Choose the files in them instead.'));
    else if (file) files.items.add(file);
  }
  input.files = files.files;
  input.dispatchEvent(new Event('change', { bubbles: true }));
  input.form?.querySelector('textarea')?.focus();
}

addEventListener('dragover', dragged);
addEventListener('drop', dragged);

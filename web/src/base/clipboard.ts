/** Copies `text`. Returns whether the browser allowed it. */
export async function copyText(text: string): Promise<boolean> {
  // Browsers give no clipboard to a page that another machine serves over plain HTTP, but they copy what is selected.
  if (!navigator.clipboard) return copySelected(text);
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function copySelected(text: string): boolean {
  const focused = document.activeElement;
  const box = Object.assign(document.createElement('textarea'), { value: text, readOnly: true, className: 'hidden' });
  // While a modal dialog is open, nothing outside of it can be selected.
  (focused?.closest('dialog') ?? document.body).append(box);
  box.select();
  const wasCopied = document.execCommand('copy');
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  box.remove();
  return wasCopied;
}

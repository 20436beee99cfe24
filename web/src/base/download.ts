/** Files that the page makes. */

/** Long enough for the browser to begin reading. */
const revokeAfter = 10_000;

export function download(name: string, text: string, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), revokeAfter);
}

/** Downloads of files that the page creates. */

/** Milliseconds after which the URL is revoked: enough for the browser to start reading the file. */
const revokeAfter = 10_000;

export function download(name: string, content: BlobPart, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), revokeAfter);
}

/**
 * Replaces the `<style>` elements of xterm (script/terminal_styles.js). The page's content security policy forbids
 * those, but allows style sheets that scripts construct.
 */
class TerminalSheet extends HTMLElement {
  readonly #sheet = new CSSStyleSheet();

  override get textContent(): string {
    return '';
  }

  override set textContent(css: string) {
    this.#sheet.replaceSync(css);
  }

  connectedCallback(): void {
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.#sheet];
  }

  disconnectedCallback(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.#sheet);
  }
}

customElements.define('terminal-sheet', TerminalSheet);

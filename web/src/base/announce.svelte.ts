/** What a screen reader is told in between: one polite line, never while it would repeat itself. */
class Announcer {
  line = $state('');

  say(line: string): void {
    this.line = line;
  }
}

export const announcer = new Announcer();

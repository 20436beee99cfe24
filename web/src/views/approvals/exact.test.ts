import { describe, expect, it } from 'vitest';
import { diffBlocks, disguisedHosts, exactPieces } from './exact';

const shown = (text: string): string =>
  exactPieces(text)
    .map((piece) => (piece.mark ? `[${piece.text}]` : piece.text))
    .join('');

describe('exactPieces', () => {
  it('leaves ordinary text unchanged', () => {
    const text = 'git commit -m "Grüße, мир, 你好, café" \\\n\t--all && echo ‘done’ – ok';
    expect(exactPieces(text)).toEqual([{ text, mark: false }]);
  });

  it('writes out control, bidirectional and invisible characters', () => {
    expect(shown('a\u202eb\u200bc\u001b[31m\r\u00a0x\u{e0041}')).toBe(
      'a[⟨U+202E⟩]b[⟨U+200B⟩]c[⟨U+001B⟩][31m[⟨U+000D⟩][⟨U+00A0⟩]x[⟨U+E0041⟩]',
    );
  });

  it('counts repeated characters', () => {
    expect(shown(`ls${' '.repeat(10_000)}; rm -rf ~`)).toBe(`ls[⟨${(10_000).toLocaleString()} spaces⟩]; rm -rf ~`);
    expect(shown(`ls${'\n'.repeat(500)}rm`)).toBe('ls[⟨500 line breaks⟩]\nrm');
    expect(shown(`ls${'\u200b'.repeat(30)}x`)).toBe('ls[⟨U+200B × 30⟩]x');
    expect(shown(`a${' \n'.repeat(20)}b`)).toBe('a[⟨20 line breaks⟩]\nb');
    expect(shown(`${' '.repeat(8)}x`)).toBe(`${' '.repeat(8)}x`);
  });

  it('marks letters of other alphabets within Latin words, and imitations of ASCII', () => {
    expect(shown('curl аpple.com')).toBe('curl а[⟨U+0430⟩]pple.com');
    expect(shown('rm；x ｌｓ')).toBe('rm；[⟨U+FF1B⟩]x ｌ[⟨U+FF4C⟩]ｓ[⟨U+FF53⟩]');
    expect(shown('Отчёт.txt')).toBe('Отчёт.txt');
  });

  it('processes long texts in bounded time', () => {
    const began = performance.now();
    exactPieces(`${' '.repeat(500_000)}${'\u200b'.repeat(200_000)}${' x'.repeat(200_000)}${'я'.repeat(20_000)}`);
    expect(performance.now() - began).toBeLessThan(2000);
  });
});

describe('disguisedHosts', () => {
  const hosts = (text: string): string[] => disguisedHosts(text).map(({ shown: name, real }) => `${name} ${real}`);

  it('shows hosts of other alphabets in punycode', () => {
    expect(hosts('curl https://аpple.com/x')).toEqual(['аpple.com xn--pple-43d.com']);
    expect(hosts('ssh root@bücher.example')).toEqual(['bücher.example xn--bcher-kva.example']);
  });

  it('shows the host after a user name, and addresses written as numbers', () => {
    expect(hosts('curl https://github.com@evil.example/x')).toEqual(['github.com@evil.example evil.example']);
    expect(hosts('curl http://2130706433/')).toEqual(['2130706433 127.0.0.1']);
  });

  it('returns nothing for ordinary hosts', () => {
    expect(hosts('curl https://Example.com:8443/é http://localhost:80 && cat naïve')).toEqual([]);
  });
});

describe('diffBlocks', () => {
  it('groups lines by their sign', () => {
    const diff = '--- a\n+++ b\n@@ -1,2 +1,3 @@\n same\n-old\n--- a rule\n+new\n+more\n';
    expect(diffBlocks(diff)).toEqual([
      { kind: 'place', lines: ['@@ -1,2 +1,3 @@'] },
      { kind: 'same', lines: [' same'] },
      { kind: 'removed', lines: ['-old', '--- a rule'] },
      { kind: 'added', lines: ['+new', '+more'] },
    ]);
  });
});

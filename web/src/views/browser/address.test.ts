import { expect, test } from 'vitest';
import { hostOf, nameOfTab, shownAddress } from './address';

test('an empty tab has no address, host and name', () => {
  expect([shownAddress('about:blank'), hostOf('about:blank'), hostOf('')]).toEqual(['', '', '']);
  expect(nameOfTab({ title: '', url: 'about:blank' })).toBe('');
  expect(nameOfTab({ title: 'about:blank', url: 'about:blank' })).toBe('');
});

test('a tab is called by its title, else by its host', () => {
  expect(nameOfTab({ title: 'Docs', url: 'http://localhost:5173/docs' })).toBe('Docs');
  expect(nameOfTab({ title: '', url: 'http://localhost:5173/docs' })).toBe('localhost:5173');
});

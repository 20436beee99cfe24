import { describe, expect, test } from 'vitest';
import { TypeAhead } from './type_ahead';

const labels = ['Beech', 'Birch', 'Oak', 'Box tree'];

describe('TypeAhead', () => {
  test('letters typed in quick succession form one prefix', () => {
    const keys = new TypeAhead();
    expect(keys.find('b', 0, labels, -1)).toBe(0);
    expect(keys.find('o', 100, labels, 0)).toBe(3);
    expect(keys.isTyping(200)).toBe(true);
    expect(keys.find(' ', 200, labels, 3)).toBe(-1);
    expect(keys.find('o', 2000, labels, 3)).toBe(2);
  });

  test('the same letter typed repeatedly cycles through all labels with that initial', () => {
    const keys = new TypeAhead();
    let at = -1;
    const found = [0, 100, 200, 300].map((time) => (at = keys.find('B', time, labels, at)));
    expect(found).toEqual([0, 1, 3, 0]);
  });

  test('a prefix of no label matches nothing', () => {
    expect(new TypeAhead().find('x', 0, labels, -1)).toBe(-1);
    expect(new TypeAhead().find('x', 0, [], -1)).toBe(-1);
  });
});

import { expect, it } from 'vitest';
import { LineFramer } from './line-framer.ts';

it('refuses a line that never ends', () => {
  const framer = new LineFramer(10);
  expect(framer.push(Buffer.from('12345\n1234567890'))).toEqual(['12345']);
  expect(() => framer.push(Buffer.from('1'))).toThrow('longer than 10 characters');
});

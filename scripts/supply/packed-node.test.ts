import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { checkIntegrity } from './packed-node.ts';

it('takes a Node of another architecture only where it is what the lock file says', () => {
  const content = Buffer.from('a program');
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
  expect(() => checkIntegrity(content, integrity, 'it')).not.toThrow();
  expect(() => checkIntegrity(Buffer.from('another one'), integrity, 'it')).toThrow('it is not what package-lock.json says');
});

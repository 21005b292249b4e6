import { afterEach, expect, it } from 'vitest';
import { compileCache } from './compile-cache.ts';

const VARIABLE = 'NODE_COMPILE_CACHE';
const before = process.env[VARIABLE];

afterEach(() => {
  // Not by vi.stubEnv: in a process that several files share, another one may have put another object there.
  if (before === undefined) delete process.env[VARIABLE];
  else process.env[VARIABLE] = before;
});

it('is handed on where the run has one, and nothing else', () => {
  process.env[VARIABLE] = '/compiled';
  expect(compileCache()).toEqual({ NODE_COMPILE_CACHE: '/compiled' });
  delete process.env[VARIABLE];
  expect(compileCache()).toEqual({});
});

import { afterEach, expect, it } from 'vitest';
import { compileCache } from './compile-cache.ts';

const before = process.env['NODE_COMPILE_CACHE'];

afterEach(() => {
  // Not by vi.stubEnv: in a process that several files share, another one may have put another object there.
  if (before === undefined) delete process.env['NODE_COMPILE_CACHE'];
  else process.env['NODE_COMPILE_CACHE'] = before;
});

it('is handed on where the run has one, and nothing else', () => {
  process.env['NODE_COMPILE_CACHE'] = '/compiled';
  expect(compileCache()).toEqual({ NODE_COMPILE_CACHE: '/compiled' });
  delete process.env['NODE_COMPILE_CACHE'];
  expect(compileCache()).toEqual({});
});

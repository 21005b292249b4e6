import { afterEach, expect, it, vi } from 'vitest';
import { compileCache } from './compile-cache.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

it('is handed on where the run has one, and nothing else', () => {
  vi.stubEnv('NODE_COMPILE_CACHE', '/compiled');
  expect(compileCache()).toEqual({ NODE_COMPILE_CACHE: '/compiled' });
  vi.stubEnv('NODE_COMPILE_CACHE', undefined);
  expect(compileCache()).toEqual({});
});

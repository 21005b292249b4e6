import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BUILT_VARIABLE, programPath } from './program.ts';

describe('a program that is started by its file', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each(['main', 'testbed/processes/api', 'drill/daemons/daemon-program'])('is of the sources: %s', (path) => {
    vi.stubEnv(BUILT_VARIABLE, undefined);
    expect(programPath(path)).toMatch(new RegExp(`/src/${path}\\.ts$`, 'u'));
    expect(existsSync(programPath(path))).toBe(true);
  });

  it('is of what ships where npm test built it', () => {
    vi.stubEnv(BUILT_VARIABLE, '/built');
    expect(programPath('testbed/processes/api')).toBe(join('/built', 'api.js'));
  });
});

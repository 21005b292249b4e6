import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applies, CASES } from './cases.ts';
import { EMBEDDED_MINOR, startEmbeddedServer } from './embedded-server.ts';
import { prepare } from './prepare.ts';
import { runCase } from './run-case.ts';
import type { RunningServer } from './running-server.ts';

describe('conformance of the embedded API server', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await startEmbeddedServer();
    await prepare(server.target);
  });

  afterAll(async () => {
    await server.stop();
  });

  for (const one of CASES.filter((each) => applies(each, EMBEDDED_MINOR))) {
    it(one.name, async () => {
      expect(await runCase(server.target, one)).toEqual([]);
    });
  }
});

import { Agent } from 'node:https';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveHttps, type HttpShell } from '../../src/testbed/apiserver/http-shell.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { applies, CASES } from './cases.ts';
import type { ConformanceTarget } from './case.ts';
import { httpsTarget } from './https-target.ts';
import { prepare } from './prepare.ts';
import { runCase } from './run-case.ts';

const EMBEDDED_MINOR = 36;

describe('conformance of the embedded API server', () => {
  let shell: HttpShell;
  let target: ConformanceTarget;
  const agent = new Agent({ keepAlive: true });

  beforeAll(async () => {
    const tokens = { admin: randomUUID(), stranger: randomUUID(), nobody: randomUUID() };
    const monotonicMs = (): number => performance.now();
    const server = new ApiServer({
      clock: { monotonicMs, bootMs: monotonicMs, wallMs: () => Date.now(), after: () => () => undefined, sleep: () => Promise.resolve() },
      random: { next: Math.random, uuid: randomUUID },
      users: [
        { name: 'admin', groups: ['system:masters'], token: tokens.admin },
        { name: 'stranger', groups: [], token: tokens.stranger },
      ],
      authorization: 'rbac',
      tracksManagers: true,
    });
    shell = await serveHttps({ server });
    target = httpsTarget({
      url: shell.url,
      ca: shell.caPem,
      agent,
      tokens,
      compact: () => {
        server.compact();
        return Promise.resolve();
      },
    });
    await prepare(target);
  });

  afterAll(async () => {
    agent.destroy();
    await shell.close();
  });

  for (const one of CASES.filter((each) => applies(each, EMBEDDED_MINOR))) {
    it(one.name, async () => {
      expect(await runCase(target, one)).toEqual([]);
    });
  }
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAssets } from '../../src/testbed/control-plane/assets.ts';
import { applies, CASES } from './cases.ts';
import { prepare } from './prepare.ts';
import { startRealServer } from './real-server.ts';
import { runCase } from './run-case.ts';
import type { RunningServer } from './running-server.ts';

const assets = findAssets(process.env, ['etcd', 'kube-apiserver']) ?? '';

describe.runIf(assets !== '')('conformance of a real kube-apiserver (needs a real control plane)', { timeout: 60_000 }, () => {
  let real: RunningServer;

  beforeAll(async () => {
    real = await startRealServer(assets);
    await prepare(real.target);
  }, 150_000);

  afterAll(async () => {
    await real.stop();
  });

  for (const one of CASES) {
    it(`${one.name} (since ${one.since})`, async ({ skip }) => {
      skip(!applies(one, real.minor), `the server is 1.${String(real.minor)}`);
      expect(await runCase(real.target, one)).toEqual([]);
    });
  }
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applies, CASES } from './cases.ts';
import { prepare } from './prepare.ts';
import { startRealServer, type RealServer } from './real-server.ts';
import { runCase } from './run-case.ts';

const binaries = process.env['KUBEBUILDER_ASSETS'] ?? '';

describe.runIf(binaries !== '')('conformance of a real kube-apiserver (needs KUBEBUILDER_ASSETS)', () => {
  let real: RealServer;

  beforeAll(async () => {
    real = await startRealServer(binaries);
    await prepare(real.target);
  }, 90_000);

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

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ASSETS_VARIABLE, assetsOf, HOW_TO_GET_ASSETS } from '../../src/drill/control-plane/assets.ts';
import { applies, CASES } from './cases.ts';
import { prepare } from './prepare.ts';
import { startRealServer, type RealServer } from './real-server.ts';
import { runCase } from './run-case.ts';

const assets = process.env[ASSETS_VARIABLE] ?? '';

describe.runIf(assets !== '')(`conformance of a real kube-apiserver (${HOW_TO_GET_ASSETS})`, () => {
  let real: RealServer;

  beforeAll(async () => {
    real = await startRealServer(assetsOf(process.env, ['etcd', 'kube-apiserver']));
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

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { assetsOf } from '../../src/testbed/control-plane/assets.ts';
import { SHORT_PACE } from '../../src/testbed/control-plane/commands.ts';
import { ControlPlane } from '../../src/testbed/control-plane/control-plane.ts';
import { connect } from '../connection.ts';
import { install } from '../../src/drill/run/installation.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { HAS_REAL_SERVER, NEEDS_REAL_SERVER, START_DEADLINE_MS } from '../integration/real-server.ts';
import { CONTROLLER_GROUPS, CONTROLLER_USER } from '../scenarios/witness.ts';
import { newerKindsSuite } from '../availability/newer-kinds-suite.ts';
import { restoreSuite } from '../availability/restore-suite.ts';
import type { Site } from './cases.ts';
import { selfCheckSuite } from './suite.ts';

describe.runIf(HAS_REAL_SERVER)(`the self-check on a real API server (${NEEDS_REAL_SERVER})`, { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'self-check-'));
  let plane: ControlPlane | undefined;
  let site: Site;

  beforeAll(async () => {
    const tokens = { operator: randomUUID(), controller: randomUUID() };
    const users = [
      { name: 'operator', groups: ['system:masters'], token: tokens.operator },
      { name: CONTROLLER_USER, groups: CONTROLLER_GROUPS, token: tokens.controller },
    ];
    plane = await ControlPlane.start({ assets: assetsOf(process.env, ['etcd', 'kube-apiserver']), folder, users, pace: SHORT_PACE });
    const { url: server, caPem } = plane;
    site = { admin: connect({ server, caPem, token: tokens.operator }), controller: connect({ server, caPem, token: tokens.controller }) };
    await install({ transport: site.admin, cluster: new ApiClient({ transport: site.admin }) });
  }, START_DEADLINE_MS);

  afterAll(async () => {
    await plane?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  selfCheckSuite(() => site);

  // The same server serves them: to start one takes longer than they do.
  describe('a backup', () => restoreSuite(() => site));
  describe('kinds of a version after this one', () => newerKindsSuite(() => site));
});

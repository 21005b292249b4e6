import { beforeAll, describe } from 'vitest';
import { install } from '../../src/drill/run/installation.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { CONTROLLER_GROUPS, CONTROLLER_USER } from '../scenarios/witness.ts';
import type { Site } from '../self-check/cases.ts';
import { newerKindsSuite } from './newer-kinds-suite.ts';
import { restoreSuite } from './restore-suite.ts';

describe('on the embedded server', { timeout: 90_000 }, () => {
  let site: Site;

  beforeAll(async () => {
    const users = [
      { name: 'operator', groups: ['system:masters'] },
      { name: CONTROLLER_USER, groups: CONTROLLER_GROUPS },
    ];
    const server = new ApiServer({ clock: new SystemClock(), random: new SystemRandom(), users, authorization: 'rbac' });
    site = { admin: inProcessTransport(server, 'operator'), controller: inProcessTransport(server, CONTROLLER_USER) };
    await install({ transport: site.admin, cluster: new ApiClient({ transport: site.admin }) });
  });

  describe('a backup', () => restoreSuite(() => site));
  describe('kinds of a version after this one', () => newerKindsSuite(() => site));
});

import { describe, expect, it } from 'vitest';
import { AskedPods } from '../../src/controllers/shared/release/asked-pods.ts';
import { factsOf } from '../../src/controllers/shared/release/pod-facts.ts';
import { letGo } from '../../src/controllers/shared/release/pods.ts';
import type { Course } from '../../src/controllers/shared/release/pods.ts';
import { ApiClient } from '../../src/kube/client.ts';
import type { Pod } from '../../src/ports/objects.ts';
import { PODS } from '../../src/ports/resources.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { CONTROLLER_GROUPS, CONTROLLER_USER } from '../scenarios/witness.ts';

describe('under the shipped rights', () => {
  it('a pod whose deletion is answered with a conflict is read, and the other pod of its name is left alone', async () => {
    const clock = new SystemClock();
    const users = [
      { name: 'operator', groups: ['system:masters'] },
      { name: CONTROLLER_USER, groups: CONTROLLER_GROUPS },
    ];
    const server = new ApiServer({ clock, random: new SystemRandom(), users, authorization: 'rbac' });
    const admin = inProcessTransport(server, 'operator');
    await sendShipped(admin, ['crd', 'rbac']);
    const spec = { nodeName: 'a', containers: [{ name: 'x', image: 'x' }] };
    await new ApiClient({ transport: admin }).create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'db-0', namespace: 'default' }, spec });

    const asked = new AskedPods();
    const course: Course = { freed: [], gone: [] };
    const order = { asked, verify: () => Promise.resolve(), mayGoOn: () => undefined, outlives: () => undefined };
    const cluster = new ApiClient({ transport: inProcessTransport(server, CONTROLLER_USER) });
    const [standing] = await cluster.list(PODS, { namespace: 'default' });
    const former = { ...factsOf(standing as Pod), uid: 'of-the-former-pod' };
    await letGo({ cluster, clock }, order, [former], 'force', course);
    expect({ ...course, kept: asked.keptOf([former]) }).toEqual({ gone: [former], freed: [], kept: [] });
    expect(await cluster.list(PODS, { namespace: 'default' })).toMatchObject([{ metadata: { name: 'db-0' } }]);
  });
});

import { afterEach, beforeEach, expect, it } from 'vitest';
import { SECRETS } from '../../src/ports/resources.ts';
import { NAMESPACE, ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

it(
  'an outage of the cluster of the Node is no failure of its fence: the part that was under way is given its whole time anew, and no more',
  { timeout: 60_000 },
  async () => {
    const data = { value: Buffer.from('the way to the workload cluster').toString('base64') };
    await world.own.operator.create(SECRETS, { metadata: { name: 'c-kubeconfig', namespace: NAMESPACE }, data });
    await world.addNode('n', world.workload);
    const owner = await world.addMachine('m', 'n', 'c');
    const { events } = world.start();
    await world.request({ name: 'm', labels: { 'cluster.x-k8s.io/cluster-name': 'c' }, owner, spec: { timeoutSeconds: 300, retryLimit: 1 } });
    await world.pass(5 * SECOND_MS);
    await world.fenced('n', {}, world.workload);
    await world.pass(5 * SECOND_MS);
    expect(await world.phase('m')).toBe('Fencing');

    world.isWorkloadReachable = false;
    await world.pass(15 * MINUTE_MS);
    world.isWorkloadReachable = true;
    await world.pass(4 * MINUTE_MS);
    expect(await world.phase('m'), 'what the fence has done meanwhile is not heard yet').toBe('Fencing');
    expect((await world.fence('n', world.workload))?.metadata.deletionTimestamp).toBeUndefined();
    await world.pass(3 * MINUTE_MS);
    expect(events.join('\n')).toContain('its node is not proven off in time');
  },
);

it.each(['/nodefences', '/nodefenceremediations'])(
  'a silent watch of %s: nothing is written, until it is heard again',
  { timeout: 60_000 },
  async (kind) => {
    await world.addNode('n');
    const owner = await world.addMachine('m', 'n');
    const replica = world.start();
    await world.pass(2 * SECOND_MS);
    replica.leadership.isLeading = false;
    await world.request({ name: 'm', owner });
    await world.pass(5 * SECOND_MS);
    replica.isDeaf = (path) => path.endsWith(kind);
    await world.pass(5 * MINUTE_MS);
    replica.leadership.isLeading = true;
    replica.remediation.wake();
    await world.pass(2 * MINUTE_MS);
    expect(replica.writes).toEqual([]);
    expect(replica.remediation.problems()).toEqual(['the watches of remediation are stale: nothing is written until they deliver again']);
    replica.isDeaf = () => false;
    await world.pass(5 * MINUTE_MS);
    expect(await world.fence('n')).toBeDefined();
  },
);

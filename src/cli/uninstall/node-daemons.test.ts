import { beforeEach, describe, expect, it } from 'vitest';
import { ATTESTATION } from '../../domain/node-daemon/attestation.ts';
import { ApiClient } from '../../kube/client.ts';
import { LEASES } from '../../ports/resources.ts';
import { ApiServer } from '../../testbed/apiserver/server.ts';
import { testClock, testRandom } from '../../testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../testbed/apiserver/transport.ts';
import { daemonsInTheWay, removeDaemonObjects } from './node-daemons.ts';

const namespace = 'default';
const WATCHDOG = { state: 'armed', kind: 'hardware', action: 'reset', isPausable: false, timeoutMs: 10_000 };
const SELF_FENCE = { grantMs: 5_000, isolationTimeoutMs: 40_000, podStopMaxMs: 30_000, resetTimeMs: 10_000 };

describe('node daemons when nodefence is uninstalled', () => {
  let cluster: ApiClient;

  beforeEach(() => {
    const users = [{ name: 'admin', groups: ['system:masters'] }];
    cluster = new ApiClient({
      transport: inProcessTransport(new ApiServer({ clock: testClock(), random: testRandom(), users, authorization: 'rbac' }), 'admin'),
    });
  });

  async function removed(): Promise<string[]> {
    const lines: string[] = [];
    for await (const line of removeDaemonObjects({ cluster, namespace })) lines.push(line);
    return lines;
  }

  async function attest(node: string, said: object): Promise<void> {
    const annotations = { [ATTESTATION]: JSON.stringify({ bootID: 'b', systemUUID: 'u', peers: [], ...said }) };
    await cluster.create(LEASES, { metadata: { name: `nodefence-node-${node}`, namespace, annotations }, spec: {} });
  }

  it.each<[string, object, RegExp]>([
    ['its watchdog is armed', { watchdog: WATCHDOG }, /^node a: its watchdog is armed: stop its daemon cleanly/],
    ['its watchdog stops with its process', { watchdog: { ...WATCHDOG, state: 'unreliable' } }, /its watchdog is unreliable/],
    ['it fences itself, without a watchdog', { selfFence: SELF_FENCE }, /it takes itself down when no controller/],
    ['nobody can tell', { bootID: '' }, /its attestation is not whole/],
  ])('are in the way of a node while %s, and its Lease stays', async (_what, said, words) => {
    await attest('a', said);
    expect(await daemonsInTheWay({ cluster, namespace })).toEqual([expect.stringMatching(words) as string]);
    expect(await removed()).toEqual([]);
    expect(await cluster.list(LEASES, { namespace })).toHaveLength(1);
  });

  it('are not once they were stopped cleanly, or where they only attest', async () => {
    await attest('a', { watchdog: { ...WATCHDOG, state: 'disarmed' } });
    await attest('b', {});
    expect(await daemonsInTheWay({ cluster, namespace })).toEqual([]);
    expect(await removed()).toEqual(['Lease default/nodefence-node-a deleted', 'Lease default/nodefence-node-b deleted']);
  });

  it('do not answer for Leases of others', async () => {
    await cluster.create(LEASES, { metadata: { name: 'nodefence-controller', namespace }, spec: {} });
    expect(await removed()).toEqual([]);
    expect(await cluster.list(LEASES, { namespace })).toHaveLength(1);
  });
});

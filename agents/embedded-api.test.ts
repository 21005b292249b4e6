import { describe, expect, it } from 'vitest';

import { ApiServer } from '../src/testbed/apiserver/server.ts';
import { inProcessTransport } from '../src/testbed/apiserver/transport.ts';
import { ApiClient } from '../src/kube/client.ts';
import type { Parameters, Target } from '../src/ports/agents.ts';
import type { Node } from '../src/ports/objects.ts';
import { NODES } from '../src/ports/resources.ts';
import { ManualClock } from '../src/runtime/manual-clock.ts';
import { SystemRandom } from '../src/runtime/system-random.ts';
import { standardRegistry } from './registry.ts';

const NODE: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'a', annotations: { 'example.org/owner': 'team' } },
  spec: { taints: [{ key: 'example.org/own', effect: 'NoSchedule' }] },
  status: {},
};

async function cluster() {
  const clock = new ManualClock();
  const users = [{ name: 'controller', groups: ['system:masters'] }];
  const server = new ApiServer({ clock, random: new SystemRandom(), users, authorization: 'rbac' });
  const client = new ApiClient({ transport: inProcessTransport(server, 'controller') });
  await client.create(NODES, NODE);
  const before = await client.get(NODES, 'a');
  const run = async (name: string, parameters: Parameters = {}): Promise<string> => {
    const agent = await standardRegistry().find(name)?.create({ cluster: client, clock });
    if (agent?.kind !== 'action') throw new Error(`${name} is no action`);
    const target: Target = {
      plug: '',
      device: '',
      parameters,
      identity: { node: 'a' },
      signal: new AbortController().signal,
      deadlineMs: 1_000,
      beforeSend: () => undefined,
    };
    const outcome = await agent.run(target);
    expect(await agent.confirm(target)).toBe(true);
    return outcome.detail;
  };
  return { client, before, run };
}

describe('cluster agents against an API server', () => {
  it('leave a Node exactly as they found it once all is taken back', async () => {
    const { client, before, run } = await cluster();
    await run('mark-unschedulable');
    await run('taint');
    const fenced = await client.get(NODES, 'a');
    expect(fenced?.spec.unschedulable).toBe(true);
    expect(fenced?.spec.taints).toEqual(expect.arrayContaining([{ key: 'nodefence.ha.k8s.io/fenced', value: 'true', effect: 'NoSchedule' }]));
    expect(fenced?.metadata.annotations?.['nodefence.ha.k8s.io/cordoned-by']).toBe('node-fence-a');
    await run('taint', { state: 'absent' });
    await run('mark-schedulable');
    const after = await client.get(NODES, 'a');
    expect(after?.spec).toEqual(before?.spec);
    expect(after?.metadata.annotations).toEqual(before?.metadata.annotations);
  });

  it('leave the cordon of an admin through a whole fence', async () => {
    const { client, run } = await cluster();
    await client.mergePatch(NODES, 'a', { spec: { unschedulable: true } });
    expect(await run('cordon')).toContain('somebody else');
    expect(await run('uncordon')).toContain('somebody else');
    expect((await client.get(NODES, 'a'))?.spec.unschedulable).toBe(true);
  });
});

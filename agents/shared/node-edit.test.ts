import { describe, expect, it } from 'vitest';
import { CORDON_MARK } from '../../src/domain/node-fence.ts';
import type { AgentDefinition, Target } from '../../src/ports/agents.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { Node } from '../../src/ports/objects.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { cordon } from '../cordon/agent.ts';
import { taint } from '../taint/agent.ts';
import { uncordon } from '../uncordon/agent.ts';
import type { NodePatch } from './node-edit.ts';

const CORDONED: Node = {
  metadata: { name: 'a', uid: 'uid-a', resourceVersion: '1', annotations: { [CORDON_MARK]: 'node-fence-a' } },
  spec: { unschedulable: true },
  status: {},
};
const PLAIN: Node = { metadata: { name: 'a', uid: 'uid-a', resourceVersion: '1' }, spec: {}, status: {} };
const TAINT = { key: 'example.com/failed', effect: 'NoSchedule' };

/** How many writes the agent sends where `node` stands there, for the Node of this uid; rejects as the agent does. */
async function writes(definition: AgentDefinition, node: Node, nodeUID: string | undefined, isAhead: boolean): Promise<number> {
  let sent = 0;
  const cluster = {
    get: async () => node,
    mergePatch: async (_resource: unknown, _name: string, { metadata, spec }: NodePatch & { metadata: NodePatch }) => {
      sent += 1;
      const annotations = Object.entries({ ...node.metadata.annotations, ...metadata.annotations }).filter(([, value]) => value !== null);
      return { ...node, metadata: { ...node.metadata, annotations: Object.fromEntries(annotations) }, spec: { ...node.spec, ...spec } };
    },
  } as unknown as Cluster;
  const agent = await definition.create({ cluster, clock: new ManualClock() });
  if (agent.kind !== 'action') throw new Error('not an action');
  const target: Target = {
    plug: '',
    device: '',
    parameters: definition === taint ? TAINT : {},
    identity: { node: 'a', nodeUID },
    signal: new AbortController().signal,
    deadlineMs: 1_000,
    beforeSend: () => undefined,
    ...(isAhead && { standing: Promise.resolve(node) }),
  };
  await agent.run(target);
  return sent;
}

describe.each<[string, AgentDefinition, Node]>([
  ['cordon', cordon, PLAIN],
  ['uncordon', uncordon, CORDONED],
  ['taint', taint, PLAIN],
])('%s', (_name, definition, node) => {
  it.each([false, true])('leaves a Node alone that was made anew under the name of the one that it is for (read ahead: %s)', async (isAhead) => {
    const other = { ...node, metadata: { ...node.metadata, uid: 'uid-b' } };
    await expect(writes(definition, other, 'uid-a', isAhead)).rejects.toMatchObject({
      kind: 'NotSent',
      message: expect.stringContaining('another Node has its name') as string,
    });
    expect(await writes(definition, node, 'uid-a', isAhead)).toBe(1);
    expect(await writes(definition, other, undefined, isAhead)).toBe(1);
  });
});

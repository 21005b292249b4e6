import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../../src/domain/plan.ts';
import { planOf } from '../../../src/domain/testing/model.ts';
import { provenStatus } from '../../../src/controllers/fence/testing/harness.ts';
import { NODE_FENCES, NODES } from '../../../src/ports/resources.ts';
import { FencedWorld } from './fenced-world.ts';

const NODES_OF_IT = ['node-a', 'node-b', 'node-c', 'node-d'];
const LATER = 'fast_detection=yes\nisolation_delay=60s\npower_management_delay=60s\n';

describe('a silent node after a takeover', () => {
  let fenced: FencedWorld;

  afterEach(async () => {
    await fenced.end();
  });

  /** A former leader left a call to this device open, in the fence of another node. */
  async function leftOpen(device: string): Promise<void> {
    const { operator } = fenced.world;
    const node = await operator.get(NODES, 'node-b');
    await operator.create(NODE_FENCES, { metadata: { name: 'node-fence-node-b' }, spec: { node: 'node-b' } });
    const call = {
      ...{ id: 'off-9', step: 'power-management' as const, level: 1, operation: '1', method: 'bmc', agent: 'model-bmc', device, plug: '' },
      ...{ action: 'off' as const, attempt: 1, restart: 0, runner: 'in-process' as const, epoch: 1 },
      ...{ startedAt: new Date(fenced.world.clock.wallMs()).toISOString(), deadlineMs: 300_000 },
    };
    const frozen = { nodeUID: node?.metadata.uid ?? '', bootID: 'boot', plan: planOf({ timing: DEFAULT_TIMING }) };
    const status = { ...provenStatus(frozen.plan), evidence: [], epoch: 1, frozen, journal: [call] };
    await fenced.world.run(1_000);
    const fence = await fenced.fence('node-b');
    if (fence === undefined) throw new Error('the fence of node-b is there');
    await operator.replaceStatus(NODE_FENCES, { ...fence, status });
  }

  it.each([
    ['is not read while a call of the former leader to its device may still arrive', 'node-a', false],
    ['is read at once where the call of the former leader is to another device', 'node-b', true],
  ])('%s', async (_what, device, isRead) => {
    fenced = await FencedWorld.start(NODES_OF_IT, LATER);
    await leftOpen(device);
    await fenced.restart();
    await fenced.world.run(60_000, 500);
    fenced.die('node-a');
    await fenced.world.run(15_000);
    expect(fenced.reads.includes('node-a')).toBe(isRead);
  });
});

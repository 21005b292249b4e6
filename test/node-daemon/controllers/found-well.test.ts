import { afterEach, describe, expect, it } from 'vitest';

import type { NodeCheck } from '../../../src/ports/node-checks.ts';
import { CONFIG_MAPS, NODES } from '../../../src/ports/resources.ts';
import { FencedWorld } from './fenced-world.ts';
import { NAMESPACE } from './world.ts';

const TYPE = 'ReadonlyFilesystem';
const REMEDIES = `
apiVersion: node-remedy/v1alpha
kind: Configuration
thresholdConfigs:
  - nodeConditionType: ${TYPE}
    nodeConditionStatus: true
    nodeConditionPeriod: 10s
    remedy1: [{name: cordon}]
    recovery: [{name: uncordon}]
`;

describe('a file system that was read-only', { timeout: 90_000 }, () => {
  let fenced: FencedWorld;
  let isWritable = true;
  afterEach(() => fenced.end());

  const fileSystems: NodeCheck = {
    name: 'file-systems',
    intervalMs: 60_000,
    deadlineMs: 10_000,
    run: () => Promise.resolve(isWritable ? { health: 'ok', sentence: 'well', well: [TYPE] } : { health: 'problem', sentence: 'read-only' }),
  };

  /** node-problem-detector. */
  async function posts(status: 'True' | 'False'): Promise<void> {
    const node = await fenced.world.operator.get(NODES, 'node-a');
    const now = new Date(fenced.world.clock.wallMs()).toISOString().replace(/\.\d+Z$/u, 'Z');
    const said = { type: TYPE, status, reason: 'Said', message: '', lastHeartbeatTime: now, lastTransitionTime: now };
    const conditions = [...(node?.status.conditions ?? []).filter(({ type }) => type !== TYPE), said];
    await fenced.world.operator.mergePatch(NODES, 'node-a', { status: { conditions } }, { subresource: 'status' });
  }

  const isCordoned = async (): Promise<boolean> => (await fenced.world.operator.get(NODES, 'node-a'))?.spec.unschedulable === true;

  it('is well again when its daemon has looked, not when its monitor starts anew', async () => {
    const extras = () => ({ checks: [fileSystems], options: { fencesItself: false } });
    fenced = await FencedWorld.start(['node-a', 'node-b'], '', new Map(), ['remedies'], extras);
    await fenced.world.operator.create(CONFIG_MAPS, { metadata: { name: 'fence-remedies', namespace: NAMESPACE }, data: { 'a.yaml': REMEDIES } });
    await fenced.world.run(10_000, 500);
    isWritable = false;
    await posts('True');
    // The last look that found it well is a minute old at most.
    expect(await fenced.after(60_000, isCordoned)).toBeDefined();
    await fenced.world.run(240_000, 500);
    await posts('False');
    await fenced.world.run(90_000, 500);
    expect(await isCordoned()).toBe(true);

    // It stood for longer than four minutes: so long it would have to be clear.
    isWritable = true;
    expect(await fenced.after(100_000, async () => !(await isCordoned()))).toBeDefined();
  });
});

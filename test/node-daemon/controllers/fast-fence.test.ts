import { afterEach, describe, expect, it } from 'vitest';

import { NODES, PODS } from '../../../src/ports/resources.ts';
import { FencedWorld } from './fenced-world.ts';

const NODES_OF_IT = ['node-a', 'node-b', 'node-c', 'node-d'];
const AT_ONCE = 'fast_detection=yes\nisolation_delay=0s\npower_management_delay=0s\n';
const OFF_STABLE_MS = 3_000;

describe('a node whose power goes', () => {
  let fenced: FencedWorld;

  afterEach(async () => {
    await fenced.end();
  });

  /** Neither controllers nor peers hear it, nor does the API server. */
  const others = ['192.0.2.1', ...NODES_OF_IT.slice(1)];
  const cutOff = (): void => {
    for (const other of others) fenced.world.cut.add(`node-a>${other}`);
    fenced.machines.get('node-a')?.partition();
  };
  const heal = (): void => {
    for (const other of others) fenced.world.cut.delete(`node-a>${other}`);
  };
  const isReleased = async (): Promise<boolean> => (await fenced.fence('node-a'))?.status?.released !== undefined;
  const podsOn = async (node: string): Promise<string[]> => {
    const pods = await fenced.world.operator.list(PODS, { fieldSelector: `spec.nodeName=${node}` });
    return pods.map(({ metadata }) => metadata.name);
  };
  const readyOf = async (node: string): Promise<string | undefined> => {
    const found = await fenced.world.operator.get(NODES, node);
    return found?.status.conditions?.find(({ type }) => type === 'Ready')?.status;
  };

  it('is released within 3 s + off_stable + 2 s of its failure, while Kubernetes still counts it as Ready, and comes back', async () => {
    fenced = await FencedWorld.start(NODES_OF_IT, AT_ONCE);
    const [pod] = await podsOn('node-a');
    expect(pod).toBeDefined();
    fenced.die('node-a');
    expect(await fenced.after(60_000, isReleased)).toBeLessThanOrEqual(3_000 + OFF_STABLE_MS + 2_000);
    expect(await readyOf('node-a')).toBe('True');
    const fence = await fenced.fence('node-a');
    expect(fence?.status?.trigger).toMatchObject({ kind: 'heartbeat', status: 'True' });
    expect(fence?.status?.evidence).toMatchObject([{ kind: 'power-off', identity: 'verified' }]);
    await fenced.world.run(2_000);
    expect(await podsOn('node-a')).toEqual([]);
    const isFinal = async (): Promise<boolean> => (await fenced.fence('node-a'))?.status?.state === 'final';
    expect(await fenced.after(300_000, isFinal)).toBeDefined();
    expect((await fenced.fence('node-a'))?.status?.outcome).toBe('recovered');
    expect(await readyOf('node-a')).toBe('True');
    expect(fenced.sets.filter((set) => !set.endsWith('node-a'))).toEqual([]);
  });

  it('is found by Kubernetes in its own time where fast_detection is off', async () => {
    fenced = await FencedWorld.start(NODES_OF_IT, AT_ONCE.replace('yes', 'no'));
    fenced.die('node-a');
    expect(await fenced.after(30_000, isReleased)).toBeUndefined();
    expect(await fenced.after(60_000, isReleased)).toBeDefined();
    expect((await fenced.fence('node-a'))?.status?.trigger?.kind).toBe('node-condition');
  });

  it('has its fence withdrawn where its heartbeats come back before the first off: nothing is sent', async () => {
    fenced = await FencedWorld.start(NODES_OF_IT, AT_ONCE.replace('power_management_delay=0s', 'power_management_delay=20s'));
    cutOff();
    const isOpen = async (): Promise<boolean> => (await fenced.fence('node-a')) !== undefined;
    expect(await fenced.after(30_000, isOpen)).toBeLessThan(26_000);
    await fenced.world.run(5_000);
    expect((await fenced.fence('node-a'))?.status).toMatchObject({ state: 'running', trigger: { kind: 'heartbeat' } });
    heal();
    fenced.machines.get('node-a')?.heal();
    await fenced.world.run(120_000, 500);
    expect(fenced.sets).toEqual([]);
    expect((await fenced.fence('node-a'))?.status).toMatchObject({ state: 'final', outcome: 'recovered' });
    expect((await podsOn('node-a')).length).toBeGreaterThan(0);
  });

  it('is not switched off where a heartbeat came in the turn before the off would have left', async () => {
    fenced = await FencedWorld.start(NODES_OF_IT, AT_ONCE);
    let asked = 0;
    fenced.beforeSet = async () => {
      asked += 1;
      heal();
      await fenced.world.clock.sleep(1_500);
    };
    cutOff();
    const isAsked = (): Promise<boolean> => Promise.resolve(asked > 0);
    expect(await fenced.after(30_000, isAsked)).toBeDefined();
    await fenced.world.run(20_000);
    expect(fenced.sets).toEqual([]);
    const unsent = (await fenced.fence('node-a'))?.status?.journal.filter(({ result }) => result === 'not-sent') ?? [];
    expect(unsent.map(({ action, message = '' }) => `${action}: ${message}`)).toEqual([
      expect.stringMatching(/^off: .*heartbeats of its daemon came back/),
    ]);
  });
});

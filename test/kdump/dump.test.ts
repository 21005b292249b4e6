import { afterEach, describe, expect, it } from 'vitest';

import { KDUMP_ADDRESSES, KDUMP_LEASE } from '../../src/domain/kdump/record.ts';
import { KERNEL_DUMP, LEASES, NODE_FENCE_REPORTS, NODE_FENCES, NODES, PODS } from '../../src/ports/resources.ts';
import { FencedWorld } from '../node-daemon/controllers/fenced-world.ts';
import { NAMESPACE } from '../node-daemon/controllers/world.ts';

const CLUSTER = ['node-a', 'node-b', 'node-c', 'node-d'];
const ADDRESS = '198.51.100.7';
const AT_ONCE = 'isolation_delay=0s\npower_management_delay=0s\nkdump_enabled=yes\n';

describe('a node whose kernel dumps', { timeout: 60_000 }, () => {
  let fenced: FencedWorld;

  afterEach(async () => {
    await fenced.end();
  });

  async function begin(settings = AT_ONCE): Promise<void> {
    fenced = await FencedWorld.start(CLUSTER, settings, new Map(), ['kdump']);
    await fenced.world.operator.mergePatch(NODES, 'node-a', { metadata: { annotations: { [KDUMP_ADDRESSES]: ADDRESS } } });
    await fenced.world.run(1_000);
  }

  /** Messages each 5 s for so long. */
  async function dump(forMs: number, from = ADDRESS): Promise<void> {
    for (let overMs = 0; overMs < forMs; overMs += 5_000) {
      fenced.message(from);
      await fenced.world.run(5_000);
    }
  }

  const status = async () => (await fenced.fence('node-a'))?.status;
  const isSet = (): Promise<boolean> => Promise.resolve(fenced.sets.length > 0);
  const told = (): string[] => fenced.events.filter(({ reason }) => reason.startsWith('Kdump')).map(({ about, reason }) => `${reason} ${about}`);
  const condition = async () =>
    (await fenced.world.operator.get(NODE_FENCE_REPORTS, 'node-a'))?.status?.conditions?.find(({ type }) => type === KERNEL_DUMP);
  const record = async (): Promise<string> =>
    Object.values((await fenced.world.operator.get(LEASES, KDUMP_LEASE, NAMESPACE))?.metadata.annotations ?? {}).join();

  it('is cordoned and held, and fenced 60 s after its last message; each is told once', async () => {
    await begin();
    fenced.die('node-a');
    await dump(120_000);
    expect(await status()).toMatchObject({ state: 'running', hold: { policy: 'kdump', reason: 'kdump-dumping' } });
    expect((await fenced.world.operator.get(NODES, 'node-a'))?.spec.unschedulable).toBe(true);
    expect(fenced.sets).toEqual([]);
    expect(await record()).toMatch(/"node-a":\{"source":"198.51.100.7",.*"state":"DUMPING"/);
    expect(await condition()).toMatchObject({ status: 'True', reason: 'Dumping' });
    const waited = await fenced.after(120_000, isSet);
    expect(waited).toBeGreaterThanOrEqual(54_000);
    expect(waited).toBeLessThan(58_000);
    await fenced.world.run(2_000);
    expect(told()).toEqual(['KdumpStarted node-a', 'KdumpFinished node-a']);
    expect(await condition()).toMatchObject({ status: 'False', reason: 'Finished' });
  });

  it('is held no longer than kdump_max_duration after the first message, however many come', async () => {
    await begin(`${AT_ONCE}kdump_max_duration=3m\n`);
    fenced.die('node-a');
    const beganMs = fenced.nowMs;
    while (fenced.sets.length === 0 && fenced.nowMs - beganMs < 400_000) await dump(5_000);
    expect(fenced.nowMs - beganMs).toBeGreaterThanOrEqual(180_000);
    expect(fenced.nowMs - beganMs).toBeLessThanOrEqual(190_000);
    await dump(60_000);
    expect(told()).toEqual(['KdumpStarted node-a', 'KdumpFinished node-a']);
  });

  it.each([
    ['of a foreign address', '203.0.113.9'],
    ['for another node that is healthy', '198.51.100.8'],
  ])('is fenced as ever where messages come %s, and nothing of them is written', async (_what, from) => {
    await begin();
    await fenced.world.operator.mergePatch(NODES, 'node-b', { metadata: { annotations: { [KDUMP_ADDRESSES]: '198.51.100.8' } } });
    fenced.die('node-a');
    await dump(120_000, from);
    expect(fenced.sets[0]).toBe('off node-a');
    expect(fenced.sets.filter((set) => set.endsWith('node-b'))).toEqual([]);
    expect(await record()).toBe('');
    expect(told()).toEqual([]);
  });

  it('that was forged for while it lived is held for its own dump, by its own first message', async () => {
    await begin(`${AT_ONCE}kdump_max_duration=3m\n`);
    await dump(400_000);
    expect(await record(), 'a node that lives costs no write').toBe('');
    fenced.die('node-a');
    await dump(120_000);
    expect(await status()).toMatchObject({ hold: { reason: 'kdump-dumping' } });
    expect(fenced.sets).toEqual([]);
  });

  it('is not switched off where it is heard in the turn before the off would have left', async () => {
    await begin();
    fenced.beforeSet = () => {
      fenced.message(ADDRESS);
      fenced.message(ADDRESS);
      return Promise.resolve();
    };
    fenced.die('node-a');
    const isHeld = async (): Promise<boolean> => (await status())?.hold?.reason === 'kdump-dumping';
    expect(await fenced.after(120_000, isHeld)).toBeDefined();
    expect(fenced.sets).toEqual([]);
    const unsent = (await status())?.journal.filter(({ result }) => result === 'not-sent') ?? [];
    expect(unsent.map(({ action, message = '' }) => `${action}: ${message}`)).toEqual([
      expect.stringMatching(/^off: .*held by kdump: its kernel dumps/),
    ]);
  });

  it('is held by a process that has only begun to listen, also where somebody asked for its fence', async () => {
    await begin(AT_ONCE.replace('power_management_delay=0s', 'power_management_delay=2s'));
    fenced.die('node-a');
    await dump(60_000);
    const requestedBy = { apiVersion: 'v1', kind: 'Person', name: 'somebody', uid: 'request-1' };
    await fenced.world.operator.mergePatch(NODE_FENCES, 'node-fence-node-a', { spec: { requestedBy } });
    await dump(20_000);
    expect(await status()).toMatchObject({ hold: { reason: 'kdump-dumping' } });
    await fenced.restart();
    await dump(60_000);
    expect(fenced.sets).toEqual([]);
    expect(told()).toEqual(['KdumpStarted node-a']);
    expect(await condition()).toMatchObject({ status: 'True', reason: 'Dumping' });
    expect(await fenced.after(120_000, isSet)).toBeGreaterThan(50_000);
  });

  it('is not held where kdump_enabled is off', async () => {
    await begin(AT_ONCE.replace('kdump_enabled=yes', 'kdump_enabled=no'));
    fenced.die('node-a');
    await dump(120_000);
    expect(fenced.sets[0]).toBe('off node-a');
  });

  it('and is armed delays a plain death by kdump_start_timeout alone', async () => {
    await begin();
    fenced.die('node-a');
    const plain = await fenced.after(120_000, isSet);
    await fenced.end();
    await begin(`${AT_ONCE}kdump=yes\n`);
    fenced.die('node-a');
    const awaited = await fenced.after(120_000, isSet);
    expect((awaited ?? 0) - (plain ?? 0)).toBeGreaterThan(20_000);
    expect((awaited ?? 0) - (plain ?? 0)).toBeLessThanOrEqual(31_000);
  });

  it.each([
    ['lets its pods go where minimum_evidence admits kdump, without a taint', 'minimum_evidence=read-back,kdump\n', true],
    ['keeps them where it does not', '', false],
  ])('%s', async (_what, setting, isReleased) => {
    await begin(`${AT_ONCE}${setting}power_management=dump\npower_management.2=bmc\n`);
    expect((await fenced.world.operator.list(PODS, { fieldSelector: 'spec.nodeName=node-a' })).length).toBeGreaterThan(0);
    fenced.die('node-a');
    await dump(120_000);
    expect(fenced.sets).toEqual([]);
    expect((await status())?.evidence).toMatchObject([{ kind: 'kdump', grade: 'inferred' }]);
    expect((await fenced.world.operator.list(PODS, { fieldSelector: 'spec.nodeName=node-a' })).length === 0).toBe(isReleased);
    const taints = (await fenced.world.operator.get(NODES, 'node-a'))?.spec.taints ?? [];
    expect(taints.filter(({ key }) => key.includes('out-of-service'))).toEqual([]);
  });
});

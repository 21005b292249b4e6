import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { NODES } from '../../../src/ports/resources.ts';
import { StorageModel } from '../model/storage.ts';
import { FencedWorld } from './fenced-world.ts';

const NODES_OF_IT = ['node-a', 'node-b', 'node-c'];
const AT_ONCE = 'fast_detection=yes\nisolation_delay=0s\npower_management_delay=0s\nrestart_backoff=30s\n';

describe('the recovery of a node whose daemon puts its registrations back', () => {
  let fenced: FencedWorld;
  let storage: StorageModel;

  beforeEach(async () => {
    storage = new StorageModel();
    fenced = await FencedWorld.start(NODES_OF_IT, AT_ONCE, new Map([['node-a', storage]]));
  });
  afterEach(async () => {
    await fenced.end();
  });

  const status = async () => (await fenced.fence('node-a'))?.status;
  const isFinal = async (): Promise<boolean> => (await status())?.state === 'final';
  const isWaiting = async (): Promise<boolean> => (await status())?.journal.at(-1)?.agent === 'unfence';
  const isCordoned = async (): Promise<boolean> => (await fenced.world.operator.get(NODES, 'node-a'))?.spec.unschedulable === true;

  /** Its power goes, and with the fence its registration. */
  async function fence(): Promise<void> {
    fenced.die('node-a');
    storage.isRegistered = false;
    storage.reboot();
    expect(await fenced.after(300_000, isWaiting)).toBeDefined();
  }

  it('waits until it is ready to recover, and uncordons it only then', async () => {
    const granted: string[] = [];
    storage.onRegister = () => void granted.push('registered');
    await fence();
    expect(granted).toEqual([]);
    expect((await status())?.message).toMatch(/may put its storage registrations back; it is waited for/);
    const told = fenced.events.filter(({ reason }) => reason === 'UnfencePermitted').map(({ message }) => message);
    expect(new Set(told).size).toBe(1);
    expect((await status())?.evidence.every(({ voidedAt }) => voidedAt !== undefined)).toBe(true);
    expect(await isCordoned()).toBe(true);
    await fenced.startDaemon('node-a');
    expect(await fenced.after(60_000, isFinal)).toBeDefined();
    expect((await status())?.outcome).toBe('recovered');
    expect(storage).toMatchObject({ isRegistered: true, registered: [storage.key] });
    const recovery = (await status())?.journal.filter(({ step }) => step === 'recovery').map(({ agent, result }) => `${agent} ${result ?? ''}`);
    expect(recovery).toEqual(['unfence succeeded', 'uncordon succeeded']);
    expect(await isCordoned()).toBe(false);
  });

  it('fails in words where it is late, leaves the node cordoned, and goes on when it is ready', async () => {
    await fence();
    const hasFailed = async (): Promise<boolean> => (await status())?.state === 'error';
    expect(await fenced.after(900_000, hasFailed)).toBeDefined();
    expect((await status())?.message).toMatch(/recovery: .*storage registrations back.*has attested nothing/);
    expect(storage.registered).toEqual([]);
    expect(await isCordoned()).toBe(true);
    await fenced.startDaemon('node-a');
    expect(await fenced.after(600_000, isFinal)).toBeDefined();
    expect(storage.registered).toEqual([storage.key]);
    expect(await isCordoned()).toBe(false);
  });
});

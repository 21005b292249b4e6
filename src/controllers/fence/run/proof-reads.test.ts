import { beforeEach, describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../domain/node-fence.ts';
import { planOf } from '../../../domain/testing/model.ts';
import { Harness, methodOf } from '../../../dispatch/testing/harness.ts';
import { entryOf } from '../../../dispatch/testing/job.ts';
import type { ProofRead } from '../../../ports/proof-reads.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { Acknowledgements } from '../acknowledgements.ts';
import { Runs } from '../runs.ts';
import { FenceHarness, provenStatus } from '../testing/harness.ts';
import { ProofReads } from './proof-reads.ts';

const FIRST = methodOf('psu-1', 'power', { device: 'pdu-1' });
const SECOND = methodOf('psu-2', 'power', { device: 'pdu-2' });
const PLAN = planOf({ powerManagement: [{ level: 1, methods: [FIRST, SECOND] }] });
const DONE = { finishedAt: '2026-01-01T00:00:00Z', result: 'succeeded' as const };

let clock: ManualClock;
let devices: Harness;
let provenAtMs: number | undefined;

beforeEach(() => {
  clock = new ManualClock();
  devices = new Harness(clock);
  provenAtMs = undefined;
  for (const { device } of [FIRST, SECOND]) devices.plug(device).state = 'off';
});

function fenceOf(journal: readonly JournalEntry[]): NodeFence {
  const status = { ...provenStatus(PLAN), state: 'final' as const, journal: [...journal] };
  return { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
}

/** The fence of node `a`, over; both of its supplies were proven off by the second off. */
const OVER = (): NodeFence => fenceOf([entryOf(SECOND, 'off', { id: 'off-1', ...DONE })]);

function read(fence: NodeFence): Promise<ProofRead> {
  const dependencies = { ...new FenceHarness(clock).dependencies, runner: devices.dispatcher };
  const runs = new Runs(dependencies, new Acknowledgements(dependencies));
  return devices.ended(new ProofReads(dependencies, runs.devices, () => provenAtMs).readAnew(fence));
}

describe('the proof of a fence that is over', () => {
  it('is read anew as it was proven: every supply, several times, and nothing is set', async () => {
    const beganAtMs = clock.monotonicMs();
    const found = await read(OVER());
    expect(found).toEqual({ atMs: expect.any(Number) as number });
    expect('atMs' in found && found.atMs - beganAtMs).toBeGreaterThanOrEqual(3_000);
    for (const device of ['pdu-1', 'pdu-2']) expect(devices.calls(new RegExp(`read ${device}`)).length).toBeGreaterThanOrEqual(3);
    expect(devices.calls(/set|connect/)).toEqual([]);
  });

  it.each(['pdu-1', 'pdu-2'])('is none while %s reads on', async (device) => {
    devices.plug(device).state = 'on';
    expect(await read(OVER())).toEqual({ doubt: expect.stringContaining('does not bear the proof out') as string });
  });

  it('is none while its device can not be read', async () => {
    devices.plug('pdu-2').onRead = () => Promise.reject(new Error('no answer'));
    expect(await read(OVER())).toEqual({ doubt: expect.stringContaining('no answer') as string });
  });

  it('is none where its journal does not say how it was proven', async () => {
    expect(await read(fenceOf([]))).toEqual({ doubt: expect.stringContaining('fenced again') as string });
  });

  it('is taken as it is for two seconds after this process itself has read it', async () => {
    provenAtMs = clock.monotonicMs() - 2_000;
    expect(await read(OVER())).toEqual({ atMs: provenAtMs });
    expect(devices.log).toEqual([]);
    provenAtMs -= 60_000;
    await read(OVER());
    expect(devices.calls(/read/).length).toBeGreaterThan(0);
  });
});

describe("a person's word", () => {
  const WORD = (): NodeFence => {
    const fence = fenceOf([
      { ...entryOf(SECOND, 'off'), id: 'off-1', ...DONE, action: 'acknowledge', operation: 'acknowledge', agent: 'kubernetes', method: 'word' },
    ]);
    const evidence = provenStatus(PLAN).evidence.map((item) => ({ ...item, kind: 'ack' as const, grade: 'person' as const }));
    return { ...fence, status: { ...provenStatus(PLAN), journal: fence.status?.journal ?? [], evidence } };
  };

  it('counts while no device reads on, also where one can not be read', async () => {
    devices.plug('pdu-1').onRead = () => Promise.reject(new Error('no answer'));
    expect(await read(WORD())).toEqual({ atMs: expect.any(Number) as number });
  });

  it('is contradicted by a device that reads on by now', async () => {
    devices.plug('pdu-1').state = 'on';
    expect(await read(WORD())).toEqual({ doubt: expect.stringContaining('pdu-1') as string });
  });
});

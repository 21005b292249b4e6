import { describe, expect, it } from 'vitest';
import { methodOf } from '../../../dispatch/testing/harness.ts';
import { entryOf } from '../../../dispatch/testing/job.ts';
import { DEFAULT_TIMING } from '../../../domain/plan.ts';
import type { FailureDiagnostic } from '../../../ports/agents.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import type { Job } from '../../../ports/jobs.ts';
import type { NodeFenceReport } from '../../../ports/resources.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { FakeLister } from '../testing/harness.ts';
import { KeptDiagnostics } from './kept-diagnostics.ts';

const METHOD = methodOf('bmc', 'power');
const SEL: FailureDiagnostic = { name: 'sel', mediaType: 'text/plain', content: new TextEncoder().encode(`${'old '.repeat(3_000)}CPU 1 IERR`) };
const SCREEN: FailureDiagnostic = { name: 'screenshot', mediaType: 'image/png', content: new Uint8Array(70_000) };

function job(signal: AbortSignal = new AbortController().signal): Job {
  return {
    entry: entryOf(METHOD, 'off'),
    method: METHOD,
    together: [],
    lastOff: true,
    timing: DEFAULT_TIMING,
    identity: { node: 'a' },
    identityRequired: true,
    signal,
    intentAtMs: 0,
    parametersOf: () => Promise.resolve({}),
    mayBegin: () => undefined,
    ask: () => Promise.resolve(),
    onSet: () => undefined,
    onAnswered: () => undefined,
  };
}

/** What is kept of a device that shows what `diagnostics` says, and the report that is kept. */
function harness(diagnostics?: (deadlineMs: number) => Promise<readonly FailureDiagnostic[]>): {
  taker: KeptDiagnostics;
  reports: FakeLister<NodeFenceReport>;
  asked: number[];
} {
  const reports = new FakeLister<NodeFenceReport>();
  const asked: number[] = [];
  reports.items = [{ metadata: { name: 'a' }, status: { incident: 1 } }];
  const none = (): Promise<never> => Promise.reject(new Error('not in this test'));
  const cluster: Cluster = {
    get: none,
    list: none,
    create: none,
    replace: none,
    replaceStatus: (_resource, object) => {
      reports.items = [object];
      return Promise.resolve(object);
    },
    mergePatch: none,
    remove: none,
    evict: none,
  };
  const unused = new FakeLister<never>();
  const quiet = (): void => undefined;
  const taker = new KeptDiagnostics({
    clock: new ManualClock(),
    cluster,
    listers: {
      nodes: unused,
      leases: unused,
      pods: unused,
      volumeAttachments: unused,
      fences: unused,
      stops: unused,
      acknowledgements: unused,
      reports,
    },
    runner: {
      run: none,
      recover: none,
      readState: none,
      ...(diagnostics === undefined
        ? {}
        : {
            failureDiagnostics: (_job: Job, deadlineMs: number): Promise<readonly FailureDiagnostic[]> => {
              asked.push(deadlineMs);
              return diagnostics(deadlineMs);
            },
          }),
    },
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
  return { taker, reports, asked };
}

describe('what a device shows before its machine is switched off', () => {
  it('is named in the journal, and its newest words stand in the report beside what was there', async () => {
    const { taker, reports, asked } = harness(() => Promise.resolve([SEL, SCREEN]));
    expect(await taker.take('uid', 2, job())).toBe('diagnostics stored before it: sel (12010 bytes), screenshot (70000 bytes)');
    await Promise.resolve();
    expect(asked).toEqual([3_000]);
    const status = reports.items[0]?.status;
    expect(status?.incident).toBe(1);
    expect(status?.exhibits).toMatchObject([
      { incident: 2, agent: 'power', device: 'bmc', name: 'sel', bytes: 12_010 },
      { name: 'screenshot', mediaType: 'image/png', bytes: 70_000 },
    ]);
    expect(status?.exhibits?.[0]?.text).toMatch(/^….*CPU 1 IERR$/u);
    expect(status?.exhibits?.[0]?.text).toHaveLength(4_096);
    expect(status?.exhibits?.[1]).not.toHaveProperty('text');
  });

  it('is asked for once in an incident, so that an off that is decided afresh is not delayed again', async () => {
    const { taker, asked } = harness(() => Promise.resolve([SEL]));
    await taker.take('uid', 2, job());
    expect(await taker.take('uid', 2, job())).toBe('');
    await taker.take('uid', 3, job());
    expect(asked).toHaveLength(2);
  });

  it('is remembered of some thousand incidents at most, the newest: of fences that are long gone nothing is kept', async () => {
    const { taker, asked } = harness(() => Promise.resolve([]));
    for (let incident = 1; incident <= 4_097; incident += 1) await taker.take('uid', incident, job());
    await taker.take('uid', 4_097, job());
    await taker.take('uid', 2, job());
    expect(asked, 'of the newest').toHaveLength(4_097);
    await taker.take('uid', 1, job());
    expect(asked, 'of the oldest').toHaveLength(4_098);
  });

  it('keeps nobody from the off when it cannot be had, or there is none', async () => {
    expect(await harness(() => Promise.reject(new Error('no log'))).taker.take('uid', 2, job())).toBe('');
    expect(await harness(() => Promise.resolve([])).taker.take('uid', 2, job())).toBe('');
    expect(await harness().taker.take('uid', 2, job())).toBe('');
  });

  it('ends with the controller', async () => {
    const stopping = new AbortController();
    stopping.abort(new Error('stop'));
    await expect(harness(() => Promise.reject(new Error('stop'))).taker.take('uid', 2, job(stopping.signal))).rejects.toThrow('stop');
  });
});

import { describe, expect, it } from 'vitest';
import { recordKey, writeRecords } from '../../domain/kdump/record.ts';
import type { DumpRecord } from '../../domain/kdump/record.ts';
import { planOf } from '../../domain/testing/model.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { Lease } from '../../ports/objects.ts';
import { fenceOf, fleetStatus } from './fleet.ts';
import type { NodeRow } from './fleet.ts';
import { listed } from './listed-cluster.ts';
import { fencePage } from './pages/fence-page.ts';
import { fleetPage } from './pages/fleet-page.ts';
import { PLAIN } from './terminal/ink.ts';
import { ago, fence, leader, node, NOW_MS } from './testing/pictured-cluster.ts';

const SHEET = { ink: PLAIN, width: 1_000, nowMs: NOW_MS };
const KDUMP = { startTimeoutMs: 30_000, finishedTimeoutMs: 60_000, maxDurationMs: 1_800_000 };

function said(first: number, last: number, count: number, state: DumpRecord['state'], by: string): DumpRecord {
  return { source: '192.0.2.7', first: ago(first), last: ago(last), count, state, by };
}

/** What each replica wrote of node a. */
function leaseOf(records: Readonly<Record<string, DumpRecord>>): Lease {
  const annotations = Object.entries(records).map(([replica, record]) => [recordKey(replica), writeRecords(new Map([['a', record]])).text]);
  return { metadata: { name: 'nodefence-kdump', annotations: Object.fromEntries(annotations) as Record<string, string> }, spec: {} };
}

const HELD = fence('a', {
  frozen: { nodeUID: 'uid-a', plan: planOf({ kdump: KDUMP }) },
  hold: { policy: 'rate', reason: 'x', message: '', since: ago(50), besides: [{ policy: 'kdump', reason: 'kdump-dumping', message: '' }] },
});

function shown(lease: Lease | undefined, ready: 'True' | 'Unknown' = 'Unknown', fences: readonly NodeFence[] = [HELD]) {
  const none = listed([]);
  const status = fleetStatus(
    {
      ...{ nodes: listed([node('a', ready, 90)]), fences: listed([...fences]), stops: none, reports: none, acknowledgements: none, leaders: none },
      ...(lease !== undefined && { dumps: listed([lease]) }),
    },
    NOW_MS,
  );
  const row = status.nodes.find((each) => each.node === 'a') as NodeRow;
  const page = fencePage({ row, leader: leader(), stops: [], fence: fenceOf(listed(fences), 'a'), acknowledgements: [] }, SHEET);
  return {
    row,
    fleet: fleetPage(status, { server: 'x', wide: false, all: false }, SHEET),
    line: page
      .split('\n')
      .find((text) => /^ *kernel dump/.test(text))
      ?.trim(),
  };
}

describe('status of a node whose kernel dumps', () => {
  it('shows how far the dump is, since when, who hears it, and until when its fence waits', () => {
    const { row, fleet, line } = shown(leaseOf({ one: said(70, 9, 2, 'DUMPING', 'host-2'), two: said(80, 4, 9, 'DUMPING', 'host-1') }));
    expect(row.dump).toMatchObject({ state: 'DUMPING', count: 9, heardBy: ['host-1', 'host-2'], since: ago(80), last: ago(4) });
    expect(fleet).toMatch(/DUMP [^]*\ba +Unknown +DUMPING /);
    expect(line).toBe(
      'kernel dump     DUMPING since 02:13:40Z (1m20s ago): 9 kdump messages from 192.0.2.7, the last 02:14:56Z (4s ago), heard by host-1, host-2; its fence waits until 02:15:56Z (in 56s) if no more come, and until 02:43:40Z (in 28m40s) at most',
    );
  });

  it.each<[what: string, records: Record<string, DumpRecord>, state: string]>([
    ['one message each of two replicas, the same one', { one: said(9, 9, 1, 'STARTED', 'h'), two: said(9, 9, 1, 'STARTED', 'g') }, 'STARTED'],
    ['one more that only one has heard', { one: said(9, 2, 1, 'STARTED', 'h'), two: said(9, 4, 2, 'DUMPING', 'g') }, 'DUMPING'],
    ['silence', { one: said(300, 90, 30, 'FINISHED', 'h') }, 'FINISHED'],
    ['a replica that is gone since', { one: said(3_000, 2_000, 30, 'DUMPING', 'h') }, 'FINISHED'],
  ])('%s', (_what, records, state) => {
    expect(shown(leaseOf(records)).row.dump?.state).toBe(state);
  });

  it('says that nothing waits for it where nothing does', () => {
    expect(shown(leaseOf({ one: said(70, 9, 5, 'DUMPING', 'h') }), 'Unknown', []).line).toMatch(/heard by h; nothing waits for it$/);
  });

  it('shows nothing of a node that lives, and no column where nobody dumps', () => {
    expect(shown(leaseOf({ one: said(70, 9, 5, 'DUMPING', 'h') }), 'True').row.dump).toBeUndefined();
    expect(shown(undefined).fleet).not.toContain('DUMP');
  });
});

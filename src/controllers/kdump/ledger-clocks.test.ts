import { describe, expect, it } from 'vitest';
import type { DumpRecord } from '../../domain/kdump/record.ts';
import { DumpLedger } from './ledger.ts';

const WALL_MS = Date.parse('2026-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;

const FINISHED_MS = 30_000;
const SAID: DumpRecord = {
  source: '10.9.0.1',
  first: new Date(WALL_MS + 1_000).toISOString(),
  last: new Date(WALL_MS + 11_000).toISOString(),
  heardForMs: 10_000,
  count: 11,
  state: 'DUMPING',
};

/** Of a replica that has looked, and found nothing yet. */
function ledgerOf(): DumpLedger {
  const unknown = (): undefined => undefined;
  const ledger = new DumpLedger({ lifeAtMs: () => -60_000, renewedAtMs: unknown, finishedTimeoutMs: () => FINISHED_MS, bootID: unknown, host: 'b' });
  ledger.see(new Map(), 0, WALL_MS);
  return ledger;
}

function saidByOther(record: DumpRecord): Parameters<DumpLedger['see']>[0] {
  return new Map([['other', new Map([['a', record]])]]);
}

/** Since when the node dumps, where this replica and another hear each message, and the clock on the wall of this one was set by so much meanwhile. */
function firstHeardMs(setByMs: number): number | undefined {
  const ledger = ledgerOf();
  for (let nowMs = 1_000; nowMs <= 11_000; nowMs += 1_000) ledger.hear('a', '10.9.0.1', nowMs, WALL_MS + nowMs);
  ledger.see(saidByOther(SAID), 11_500, WALL_MS + 11_500 + setByMs);
  return ledger.heardOf('a')?.firstMs;
}

describe('what another replica says of a dump while we look', () => {
  it('makes it no older where our clock on the wall was set forward: its limit does not end sooner, and cuts no dump', () => {
    expect(firstHeardMs(2 * HOUR_MS)).toBe(1_000);
  });

  it.each([0, -2 * HOUR_MS])('makes it no older where that was set by %i ms', (setByMs) => {
    expect(firstHeardMs(setByMs)).toBe(1_000);
  });
});

describe('a watch that was behind and shows at once what another replica wrote in between', () => {
  /** When the last message came, as far as this replica knows at `nowMs`, once it has seen these records in one turn. */
  function lastHeardMs(nowMs: number, ...records: readonly DumpRecord[]): number | undefined {
    const ledger = ledgerOf();
    for (const record of records) ledger.see(saidByOther(record), nowMs, WALL_MS + nowMs);
    return ledger.heardOf('a')?.lastMs;
  }

  it('makes no dump begin anew that the other one says is over', () => {
    const before = { ...SAID, last: new Date(WALL_MS + 5_000).toISOString(), heardForMs: 4_000, count: 5 };
    const over = { ...SAID, state: 'FINISHED' as const };
    expect(lastHeardMs(100_000, before, SAID)).toBe(78_000);
    expect(lastHeardMs(100_000, before, SAID, over)).toBe(70_000);
    expect(lastHeardMs(42_000, over)).toBe(11_000);
    expect(lastHeardMs(42_000, { ...over, last: new Date(WALL_MS - 3_600_000).toISOString() })).toBe(-10_000);
  });
});

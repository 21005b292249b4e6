import { describe, expect, it } from 'vitest';

import { decideUnfence, packRun, unpackRun } from './unfencing.ts';
import type { UnfenceFacts } from './unfencing.ts';

const FENCE = '11111111-0000-4000-8000-000000000001';
const RUN = '22222222-0000-4000-8000-00000000abcd';
const PERMIT = { bootID: 'boot-2', fence: FENCE, run: RUN, epoch: 7, untilMs: 5_000 };
/** Everything there is for registering. */
const DUE: UnfenceFacts = {
  bootID: 'boot-2',
  nowMs: 4_000,
  permit: PERMIT,
  newestEpoch: 7,
  areGrantsEnded: false,
  record: { lacks: true, isRegistering: false },
  found: 'missing',
  isAnnounced: true,
};

describe('what a daemon does to unfence its node', () => {
  it.each<[string, Partial<UnfenceFacts>, object]>([
    ['permitted, lacking, announced', {}, { step: 'register' }],
    ['not announced', { isAnnounced: false }, { step: 'announce' }],
    ['read back', { found: 'registered' }, { step: 'ready' }],
    ['not read since the permit came', { found: 'unread' }, { step: 'read' }],
    ['not readable', { found: 'unknown' }, { step: 'read' }],
    ['no permit', { permit: undefined }, { step: 'wait' }],
    ['no permit, though it is registered', { permit: undefined, found: 'registered' }, { step: 'wait' }],
    ['a permit of an older boot', { permit: { ...PERMIT, bootID: 'boot-1' } }, { step: 'wait' }],
    ['a permit of an older leader', { newestEpoch: 8 }, { step: 'wait' }],
    ['a permit that is over', { nowMs: 5_000 }, { step: 'wait' }],
    ['a boot that had its registrations', { record: { lacks: false, isRegistering: false } }, { step: 'failed', why: 'shut out' }],
    ['its first look', { record: { isRegistering: false } }, { step: 'read' }],
    ['its grants were ended', { areGrantsEnded: true }, { step: 'failed', why: 'grants ended' }],
    ['its grants were ended, though it is registered', { areGrantsEnded: true, found: 'registered' }, { step: 'failed', why: 'grants ended' }],
    ['no record', { record: 'unreadable' }, { step: 'failed', why: 'no record' }],
    ['a process that an earlier daemon began', { record: { lacks: true, isRegistering: true }, found: 'unknown' }, { step: 'read' }],
    ['the same without a permit', { record: { lacks: true, isRegistering: true }, found: 'unread', permit: undefined }, { step: 'read' }],
  ])('%s', (_what, change, decided) => {
    expect(decideUnfence({ ...DUE, ...change })).toEqual(decided);
  });

  it('is told fence and run in 32 bytes', () => {
    expect(unpackRun(packRun({ fence: FENCE, run: RUN }))).toEqual({ fence: FENCE, run: RUN });
    expect(unpackRun('')).toBeUndefined();
    expect(() => packRun({ fence: 'no-uuid', run: RUN })).toThrow(TypeError);
  });
});

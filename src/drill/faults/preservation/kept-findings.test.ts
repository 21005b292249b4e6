import { describe, expect, it } from 'vitest';
import { machineName } from '../../../testbed/operators/fleet.ts';
import type { ApiEvent, DeviceEvent, PowerEvent, TraceEvent } from '../../../laws/trace.ts';
import { CONTROLLER_USER } from '../../run/cluster-session.ts';
import { courseProblems, drainProblems, endProblems, setProblems, shownOver } from './kept-findings.ts';

function written(at: number, phase: string, more: { expiry?: string; deleted?: true; isLeft?: false; node?: string } = {}): ApiEvent {
  const { node = 'a', expiry, deleted, isLeft } = more;
  const metadata = { finalizers: isLeft === false ? [] : ['f'], ...(deleted === undefined ? {} : { deletionTimestamp: 'now' }) };
  const currentStatus = { phase, ...(expiry === undefined ? {} : { preserveExpiryTime: expiry }) };
  const place = { resource: 'machines.machine.sapcloud.io', name: machineName(node), subresource: 'status' };
  return { kind: 'api', at, user: CONTROLLER_USER, verb: 'patch', ...place, status: 200, object: { metadata, status: { currentStatus } } };
}

const COURSE: TraceEvent[] = [
  written(1, 'Running'),
  written(2, 'Running'),
  written(3, 'Failed'),
  written(4, 'Failed', { expiry: 'later' }),
  { ...written(5, 'Failed'), status: 409 },
  written(6, 'Running', { node: 'b' }),
  written(7, 'Terminating'),
  { ...written(8, 'Terminating', { deleted: true }), verb: 'delete' },
  { ...written(9, 'Terminating', { deleted: true, isLeft: false }), user: 'driver' },
];

describe('the course of a Machine', () => {
  it('is what its writes left behind, and ends when its last finalizer goes', () => {
    expect(shownOver(COURSE, 'a').map(({ at, shown }) => `${at} ${shown}`)).toEqual([
      '1 Running',
      '3 Failed',
      '4 Failed:Preserved',
      '7 Terminating',
      '9 gone',
    ]);
  });

  it('must pass through what is wanted, in order, and never through what is not', () => {
    expect(courseProblems(COURSE, 'a', ['Failed:Preserved', 'Terminating', 'gone'], ['Unknown'])).toEqual([]);
    expect(courseProblems(COURSE, 'a', ['Terminating', 'Failed:Preserved'])).toHaveLength(1);
    expect(courseProblems(COURSE, 'a', [], ['gone'])).toEqual([
      'the Machine of a was Running, Failed, Failed:Preserved, Terminating, gone: it must never be gone',
    ]);
    expect(courseProblems([], 'a', ['Running'])).toEqual(['the Machine of a was never written: no Running where it should be']);
  });
});

const OFF: DeviceEvent = { kind: 'device', at: 5, device: 'bmc', plug: '', node: 'a', action: 'set', want: 'off', answer: '204', session: 's' };
const read = (at: number, shown: 'on' | 'off'): DeviceEvent => ({ ...OFF, at, action: 'read', shown });
const POWER: PowerEvent = { kind: 'power', at: 6, node: 'a', state: 'off', cause: 'set' };
const REMOVAL: ApiEvent = { ...written(9, 'Terminating', { deleted: true }), verb: 'delete' };

describe('the end of a Machine', () => {
  it('comes after an off that its device has shown, and while it is off', () => {
    expect(endProblems([OFF, POWER, read(7, 'off'), read(8, 'off'), REMOVAL], 'a')).toEqual([]);
  });

  it.each<[string, TraceEvent[]]>([
    ['nobody told it off', [POWER, read(7, 'off'), REMOVAL]],
    ['nobody read it', [OFF, POWER, REMOVAL]],
    ['it was its storage that was told off', [{ ...OFF, storage: 'filer' }, POWER, read(7, 'off'), REMOVAL]],
    ['it was read before it was told', [read(4, 'off'), OFF, POWER, REMOVAL]],
    ['its last read was on', [OFF, POWER, read(7, 'off'), read(8, 'on'), REMOVAL]],
    ['it was on all the same', [OFF, read(7, 'off'), read(8, 'off'), REMOVAL]],
    ['it was switched on again', [OFF, POWER, read(7, 'off'), read(8, 'off'), { ...POWER, at: 8.5, state: 'on' }, REMOVAL]],
    ['somebody else took it away', [OFF, POWER, read(7, 'off'), { ...REMOVAL, user: 'operator' }]],
  ])('is not as it must be where %s', (_words, trace) => {
    expect(endProblems(trace, 'a')).not.toEqual([]);
  });
});

describe('a machine that is kept', () => {
  it('is switched by nobody in its time', () => {
    expect(setProblems([OFF], 'a', 0, 5)).toEqual([]);
    expect(setProblems([OFF], 'a', 0, 6)).toEqual(['a was told to switch off while it was preserved']);
    expect(setProblems([OFF, read(5, 'off')], 'b', 0, 6)).toEqual([]);
    expect(setProblems([{ ...OFF, storage: 'filer' }], 'a', 0, 6)).toEqual([]);
  });

  it('is left by its pods because they were evicted, wherever they were before', () => {
    const pod = (at: number, node: string, more: Partial<ApiEvent>): ApiEvent => {
      const place = { resource: 'pods', name: 'db-0', object: { spec: { nodeName: node } } };
      return { kind: 'api', at, user: CONTROLLER_USER, verb: 'create', status: 201, ...place, ...more };
    };
    const bound = pod(1, 'a', { verb: 'patch', user: 'scheduler' });
    const evicted = pod(2, '', { subresource: 'eviction', object: {} });
    const moved = pod(3, 'b', { verb: 'patch', user: 'scheduler' });
    const deleted = pod(4, '', { verb: 'delete', object: {} });
    expect(drainProblems([bound, evicted, moved, deleted], 'a')).toEqual([]);
    expect(drainProblems([bound, evicted, moved, deleted], 'b')).toEqual(['no pod of b was evicted', 'pod db-0 of b was deleted and not evicted']);
    expect(drainProblems([bound, { ...evicted, status: 429 }], 'a')).toEqual(['no pod of a was evicted']);
  });
});

import { describe, expect, it } from 'vitest';
import type { JournalEntry, NodeFenceStatus } from '../../domain/node-fence.ts';
import type { DeviceEvent, PowerEvent } from '../../laws/trace.ts';
import { lateOnProblems, leftOffProblems, neverSet, secondLevelProblems } from './device-findings.ts';
import { stopProblems } from './people-faults.ts';

function read(device: string, shown: 'on' | 'off'): DeviceEvent {
  return { kind: 'device', at: 1, device, plug: '', node: 'a', action: 'read', shown, answer: shown, session: 's' };
}

function set(at: number, want: 'on' | 'off'): DeviceEvent {
  return { kind: 'device', at, device: 'bmc:1', plug: '', node: 'a', action: 'set', want, answer: '204', session: 's' };
}

function power(at: number, state: 'on' | 'off'): PowerEvent {
  return { kind: 'power', at, node: 'a', state, cause: 'set' };
}

function status(more: Partial<NodeFenceStatus>): NodeFenceStatus {
  return { state: 'error', journal: [], evidence: [], ...more } as unknown as NodeFenceStatus;
}

function edges(...devices: string[]): NonNullable<NodeFenceStatus['restore']> {
  return { edges: devices.map((device) => ({ method: 'off', agent: 'redfish', device, plug: '', state: 'off' })) };
}

function run(more: Partial<JournalEntry>): JournalEntry {
  return { id: 'x', level: 1, action: 'off', result: 'unreachable', ...more } as unknown as JournalEntry;
}

describe('what a device fault must have led to', () => {
  it('is that exactly what is off is told as left off', () => {
    const trace = [read('bmc:1', 'off'), read('bmc:2', 'on')];
    const words = 'LeftOff: supply-a-off (redfish bmc:1) is still off';
    expect(leftOffProblems({ trace, status: status({ restore: edges('https://bmc:1'), message: words }) })).toEqual([]);
    expect(leftOffProblems({ trace, status: status({ restore: edges('bmc:1', 'bmc:2'), message: words }) })).toEqual([
      'bmc:2 is on, and status.restore says that it is off',
    ]);
    expect(leftOffProblems({ trace, status: status({ message: 'all is well' }) })).toEqual([
      'bmc:1 is off, and status.restore does not say so',
      'no LeftOff for a person: all is well',
    ]);
    expect(leftOffProblems({ trace: [read('bmc:1', 'on')], status: status({}) })).toHaveLength(1);
  });

  it('is a proof that came from the second level, after the first had failed', () => {
    const proof = { kind: 'power-off', source: 'y' } as unknown as NodeFenceStatus['evidence'][number];
    const journal = [run({}), run({ id: 'y', level: 2, method: 'outlet-off', result: 'succeeded' })];
    expect(secondLevelProblems({ trace: [], status: status({ journal, evidence: [proof] }) })).toEqual([]);
    expect(
      secondLevelProblems({ trace: [], status: status({ journal: [run({ id: 'y', result: 'succeeded', method: 'bmc-off' })], evidence: [proof] }) }),
    ).toEqual(['the off of the first level did not fail', 'the proof came from bmc-off, not from the second level']);
    expect(secondLevelProblems({ trace: [], status: status({ journal }) })).toEqual(['nothing was proven']);
  });

  it('is that nothing was set, and that somebody is told why', () => {
    expect(neverSet({ trace: [read('bmc:1', 'on')], status: status({ message: 'it also serves node b' }) }, /serves/)).toEqual([]);
    expect(neverSet({ trace: [set(1, 'off')], status: status({}) }, /serves/)).toHaveLength(2);
  });

  it('is that no late off can strike what was switched on', () => {
    expect(lateOnProblems([set(0, 'off'), power(90, 'off'), set(110, 'on')], 'a', 100)).toEqual([]);
    expect(lateOnProblems([set(0, 'off'), set(90, 'on'), power(100, 'off')], 'a', 100)).toEqual([
      'it was switched on 90 ms after an off that takes 100 ms',
      'a late off has struck the node after it was switched on',
    ]);
    expect(lateOnProblems([set(0, 'off')], 'a', 100)).toEqual(['it was never switched on']);
  });

  it('is that a stopped fence says that it is stopped, and what is off', () => {
    const hold = { policy: 'stop', reason: 'stopped', message: '', since: '' };
    expect(stopProblems(status({ state: 'running', hold, restore: edges('bmc:1'), message: 'Left off: bmc:1' }))).toEqual([]);
    expect(stopProblems(status({ state: 'running', hold, restore: edges('bmc:1'), message: 'Stopped' }))).toHaveLength(1);
    expect(stopProblems(status({ state: 'running' }))).toHaveLength(1);
    expect(stopProblems(status({ state: 'final' }))).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import type { ApiEvent, DeviceEvent } from '../../../src/laws/trace.ts';
import { Kept } from './kept.ts';

const PRESERVE = 'node.machine.sapcloud.io/preserve';
const LAST_APPLIED = 'node.machine.sapcloud.io/last-applied-node-preserve-value';
const OFF: DeviceEvent = { kind: 'device', at: 0, device: 'bmc-a', plug: '', node: 'a', action: 'set', want: 'off', answer: '204', session: 's' };

function harness({ hasJumps = false, drift = 0 } = {}) {
  const state = { nowMs: 0, power: 'on' as 'on' | 'off', restoredForMs: undefined as number | undefined, incident: 1 };
  const kept = new Kept({
    nowMs: () => state.nowMs,
    wallMs: () => state.nowMs,
    power: () => state.power,
    restoredForMs: () => state.restoredForMs,
    isOurs: (user) => user === 'nodefence',
    incident: () => state.incident,
    hasJumps,
    drift,
  });
  const hear = (verb: ApiEvent['verb'], resource: string, object: object, user = 'admin'): string | undefined =>
    kept.hear({ kind: 'api', at: 0, user, verb, resource, status: 200, object });
  const machine = (untilMs: number | undefined, verb: ApiEvent['verb'] = 'patch', user?: string, annotations = {}): string | undefined => {
    const currentStatus = { phase: 'Failed', ...(untilMs !== undefined && { preserveExpiryTime: new Date(untilMs).toISOString() }) };
    const metadata = { name: 'machine-a', labels: { node: 'a' }, annotations };
    return hear(verb, 'machines.machine.sapcloud.io', { metadata, status: { currentStatus } }, user);
  };
  const ask = (value?: string, ready = 'Unknown'): void => {
    const metadata = { name: 'a', annotations: value === undefined ? {} : { [PRESERVE]: value } };
    hear('patch', 'nodes', { metadata, status: { conditions: [{ type: 'Ready', status: ready }] } });
  };
  return { state, kept, machine, ask };
}

describe('a machine that is preserved', () => {
  it.each(['now', 'when-failed', 'auto-preserve'])('by %s may not be switched off first, nor deleted', (value) => {
    const { state, kept, machine, ask } = harness();
    ask(value);
    machine(300_000);
    state.nowMs = 20_000;
    expect(kept.asked(OFF)).toContain('P6: bmc-a was set off although its machine is preserved');
    expect(machine(300_000, 'delete', 'nodefence')).toContain('P6: Machine machine-a was deleted although it is preserved');
  });

  it('may be while the request was on its way, when its time is over, when nobody wants it any more, and when it is done with it already', () => {
    const { state, kept, machine, ask } = harness();
    ask('now');
    machine(300_000);
    state.nowMs = 5_000;
    expect(kept.asked(OFF)).toBeUndefined();
    state.nowMs = 20_000;
    expect(kept.asked(OFF)).toBeUndefined();
    state.incident = 2;
    ask();
    expect(kept.asked(OFF)).toBeUndefined();
    state.incident = 3;
    ask('now');
    state.nowMs = 400_000;
    expect(kept.asked(OFF)).toBeUndefined();
  });

  it('may be when its time is over for a clock that has drifted ahead as far as clocks do, and not before', () => {
    const { state, kept, machine, ask } = harness({ drift: 0.02 });
    ask('now');
    machine(1_700_000);
    state.nowMs = 1_650_000;
    expect(kept.asked(OFF)).toContain('P6: bmc-a was set off although its machine is preserved');
    state.incident = 2;
    state.nowMs = 1_660_000;
    expect(kept.asked(OFF)).toBeUndefined();
  });

  it('by a word that stood beside that of its Node may be, when that is taken away; for longer than it takes to take that down, no word stands', () => {
    const { state, kept, machine, ask } = harness();
    ask('now');
    machine(300_000, 'patch', 'somebody', { [PRESERVE]: 'now', [LAST_APPLIED]: 'now' });
    state.nowMs = 20_000;
    ask();
    state.nowMs = 60_000;
    expect(kept.asked(OFF)).toBeUndefined();
    state.incident = 2;
    state.nowMs = 63_000;
    expect(kept.asked(OFF)).toContain('P6: bmc-a was set off although its machine is preserved');
  });

  it('by a word that came when that of its Node was taken down may not be', () => {
    const { state, kept, machine, ask } = harness();
    ask('false');
    machine(300_000, 'patch', 'nodefence', { [LAST_APPLIED]: 'false' });
    ask();
    machine(300_000, 'patch', 'nodefence');
    machine(300_000, 'patch', 'somebody', { [PRESERVE]: 'now' });
    state.nowMs = 20_000;
    expect(kept.asked(OFF)).toContain('P6: bmc-a was set off although its machine is preserved');
  });

  it.each([
    ['now', true],
    ['when-failed', false],
    ['auto-preserve', false],
  ])('by %s and is Ready again is still kept: %s', (value, isKept) => {
    const { state, kept, machine, ask } = harness();
    ask(value, 'True');
    machine(300_000);
    state.nowMs = 20_000;
    expect(kept.asked(OFF) !== undefined).toBe(isKept);
  });

  it('is not judged where clocks jump', () => {
    const { state, kept, machine, ask } = harness({ hasJumps: true });
    ask('now');
    machine(300_000);
    state.nowMs = 20_000;
    expect(kept.asked(OFF)).toBeUndefined();
  });
});

describe('a Machine', () => {
  it('is deleted by us only where its node is off, or was switched on by somebody while the deletion was on its way', () => {
    const { state, machine, ask } = harness();
    ask();
    machine(undefined);
    expect(machine(undefined, 'delete', 'nodefence')).toContain('P1: Machine machine-a was deleted while a was on');
    machine(undefined);
    expect(machine(undefined, 'delete', 'somebody')).toBeUndefined();
    machine(undefined);
    state.restoredForMs = 9_001;
    expect(machine(undefined, 'delete', 'nodefence')).toContain('P1: Machine machine-a was deleted while a was on');
    machine(undefined);
    state.restoredForMs = 9_000;
    expect(machine(undefined, 'delete', 'nodefence')).toBeUndefined();
    machine(undefined);
    Object.assign(state, { restoredForMs: undefined, power: 'off' });
    expect(machine(undefined, 'delete', 'nodefence')).toBeUndefined();
  });
});

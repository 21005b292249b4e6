import { describe, expect, it } from 'vitest';
import { withForeignSets } from './foreign-sets.ts';
import type { DeviceEvent, OperatorEvent, PowerEvent, TraceEvent } from './trace.ts';

const SET: DeviceEvent = { kind: 'device', at: 10, device: 'bmc', plug: '', node: 'a', action: 'set', want: 'off', answer: '204', session: 's' };
const EDGE: PowerEvent = { kind: 'power', at: 11, node: 'a', state: 'off', cause: 'set' };
const CALL: OperatorEvent = { kind: 'operator', at: 12, tookMs: 3, node: 'a', device: 'bmc', want: 'off', answer: 'accepted' };

function foreign(trace: readonly TraceEvent[]): string[] {
  return withForeignSets(trace).flatMap((event) => ('isForeign' in event ? [`${event.kind} at ${event.at}`] : []));
}

describe('what a BareMetalOperator has switched', () => {
  it('is its set, and what came of it, also where the clock of the device is a little behind', () => {
    expect(foreign([CALL, { ...SET, at: -50 }, EDGE])).toContain('device at -50');
    expect(foreign([CALL, SET, EDGE])).toEqual(['device at 10', 'power at 11']);
  });

  it.each<[string, TraceEvent[]]>([
    ['nobody tells of a call', [SET, EDGE]],
    ['the call is about another node', [{ ...CALL, node: 'b' }, SET, EDGE]],
    ['the call wanted something else', [{ ...CALL, want: 'on' }, SET, EDGE]],
    ['the call went to another device', [{ ...CALL, device: 'pdu' }, SET, EDGE]],
    ['the set came before the call', [CALL, { ...SET, at: -100 }, EDGE]],
    ['it shuts a node out of its storage', [CALL, { ...SET, storage: 'filer' }]],
  ])('is nothing where %s', (_words, trace) => {
    expect(foreign(trace).filter((words) => words.startsWith('device'))).toEqual([]);
  });

  it('is one set for each call: a second one is ours', () => {
    expect(foreign([CALL, SET, { ...SET, at: 11 }, { ...EDGE, at: 13 }])).toEqual(['device at 10']);
  });

  it('is no edge of another cause', () => {
    expect(foreign([CALL, SET, { ...EDGE, cause: 'panic' }])).toEqual(['device at 10']);
  });
});

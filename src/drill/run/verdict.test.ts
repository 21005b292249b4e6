import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import type { DeviceEvent } from '../laws/trace.ts';
import { bystanders, wrongEnd } from './verdict.ts';

const UNTOUCHED = { outcome: 'untouched', released: false, deadlineMs: 1 } as const;

function status(outcome: NodeFenceStatus['outcome'], releasedAt?: string): NodeFenceStatus {
  return { state: 'final', step: 'recovery', outcome, timeline: releasedAt === undefined ? {} : { releasedAt } } as unknown as NodeFenceStatus;
}

describe('the end of a node that broke', () => {
  it('is right when outcome and release are those of the fault', () => {
    expect(wrongEnd('a', status('untouched'), UNTOUCHED, false)).toEqual([]);
    expect(wrongEnd('a', status('recovered', 'then'), { ...UNTOUCHED, outcome: 'recovered', released: true }, false)).toEqual([]);
  });

  it('names the node where several broke', () => {
    expect(wrongEnd('a', status('recovered', 'then'), UNTOUCHED, true)).toEqual([
      'a: outcome recovered instead of untouched',
      'a: something was released',
    ]);
    expect(wrongEnd('a', undefined, UNTOUCHED, false)).toEqual(['outcome no fence instead of untouched']);
  });

  it('is no business of a machine that nobody broke: each set there is a problem', () => {
    const set: DeviceEvent = { kind: 'device', at: 1, device: 'bmc', plug: '', node: 'b', action: 'set', want: 'off', answer: '204', session: 's' };
    expect(bystanders([set, { ...set, action: 'read' }], ['a'])).toEqual(['b, which nobody broke, was told to switch off']);
    expect(bystanders([set], ['a', 'b'])).toEqual([]);
  });
});

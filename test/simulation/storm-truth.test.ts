import { describe, expect, it } from 'vitest';
import type { DeviceEvent } from '../../src/laws/trace.ts';
import { FenceWatch } from './fence-watch.ts';
import type { Policies } from './scenario.ts';
import { StormTruth } from './storm-truth.ts';
import { sweptScenario } from './sweep.ts';

function off(node: string): DeviceEvent {
  return { kind: 'device', at: 0, device: `bmc-${node}`, plug: '', node, action: 'set', want: 'off', answer: '204', session: 's' };
}

function hearRunning(fence: FenceWatch, node: string, restarts: number, more: object = {}): void {
  const object = { metadata: { name: `node-fence-${node}` }, spec: { node }, status: { state: 'running', incident: 1, restarts, ...more } };
  const name = `node-fence-${node}`;
  fence.hear({ kind: 'api', at: 0, user: 'nodefence', verb: 'update', resource: 'nodefences.ha.k8s.io', name, status: 200, object });
}

/** Five nodes, of which a, c and e stand in one zone. */
function harness(policies: Policies, running: readonly string[] = [], fence = new FenceWatch(() => 0)) {
  const base = sweptScenario('taint');
  for (const node of running) hearRunning(fence, node, 0);
  return new StormTruth({ ...base, nodes: ['a', 'b', 'c', 'd', 'e'], configuration: { ...base.configuration, policies } }, fence);
}

describe('the truth about a storm', () => {
  it('forbids an off while more than four in ten nodes have been down for long', () => {
    const truth = harness('prompt');
    for (const node of ['a', 'b', 'c']) truth.saw(node, false, 0);
    expect(truth.asked(off('a'), 15_000)).toBeUndefined();
    expect(truth.asked(off('a'), 25_000)).toContain('a, b, c of 5 nodes have not been Ready for 20 s');
    truth.saw('c', true, 26_000);
    expect(truth.asked(off('a'), 27_000)).toBeUndefined();
  });

  it('counts no node whose Node was deleted, until it comes back', () => {
    const truth = harness('prompt');
    for (const node of ['a', 'b', 'c']) truth.saw(node, false, 0);
    truth.removed('b');
    truth.saw('d', true, 0);
    expect(truth.asked(off('a'), 25_000)).toContain('a, c of 4 nodes have not been Ready for 20 s');
    truth.saw('c', true, 26_000);
    expect(truth.asked(off('a'), 27_000)).toBeUndefined();
    truth.saw('b', false, 28_000);
    expect(truth.asked(off('a'), 30_000)).toBeUndefined();
    truth.saw('c', false, 30_000);
    expect(truth.asked(off('a'), 60_000)).toContain('a, b, c of 5 nodes');
  });

  it('forbids a second fence in one zone, and lets one in another begin', () => {
    const truth = harness('prompt', ['a', 'b', 'c']);
    expect(truth.asked(off('a'), 0)).toBeUndefined();
    expect(truth.asked(off('b'), 0)).toBeUndefined();
    expect(truth.asked(off('c'), 0)).toContain('a of the same zone was being fenced');
  });

  it('forbids a second fence at all where one at a time is configured', () => {
    const truth = harness('one-at-a-time', ['a', 'b']);
    expect(truth.asked(off('a'), 0)).toBeUndefined();
    expect(truth.asked(off('b'), 0)).toContain('a were being fenced, and 1 may be at once');
  });

  it('counts no fence that failed, and that has switched nothing since it began anew', () => {
    const fence = new FenceWatch(() => 0);
    const truth = harness('one-at-a-time', ['a', 'b'], fence);
    expect(truth.asked(off('a'), 0)).toBeUndefined();
    hearRunning(fence, 'a', 1);
    expect(truth.asked(off('b'), 0)).toBeUndefined();
    expect(truth.asked(off('a'), 0)).toContain('b were being fenced');
  });

  it('counts no fence that has given its slot away, for its machine is preserved', () => {
    const fence = new FenceWatch(() => 0);
    const truth = harness('one-at-a-time', ['a', 'b'], fence);
    expect(truth.asked(off('a'), 0)).toBeUndefined();
    hearRunning(fence, 'a', 0, { slotGivenAway: true });
    expect(truth.asked(off('b'), 0)).toBeUndefined();
    expect(truth.asked(off('a'), 0)).toContain('b were being fenced');
  });

  it('forbids nothing where no policy is configured', () => {
    const truth = harness('off', ['a', 'b', 'c', 'd', 'e']);
    for (const node of ['a', 'b', 'c', 'd', 'e']) truth.saw(node, false, 0);
    expect(['a', 'b', 'c', 'd', 'e'].map((node) => truth.asked(off(node), 60_000))).toEqual(Array.from({ length: 5 }, () => undefined));
  });
});

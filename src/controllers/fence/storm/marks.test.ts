import { describe, expect, it } from 'vitest';
import type { Node } from '../../../ports/objects.ts';
import { conditionalMarks, isConditional, presentMarks } from './marks.ts';

const QUIET = { isCordonOurs: false, isEmpty: false, isHanging: false };

function node(metadata: Partial<Node['metadata']>, spec: Node['spec'] = {}, conditions: NonNullable<Node['status']['conditions']> = []): Node {
  return { metadata: { name: 'a', ...metadata }, spec, status: { conditions } };
}

function taint(key: string): Node['spec'] {
  return { taints: [{ key, effect: 'NoSchedule' }] };
}

describe('marks of others on a Node', () => {
  it.each<[string, Partial<Node['metadata']>, string[]]>([
    ['our own annotation', { annotations: { 'nodefence/maintenance': 'disk swap' } }, ['nodefence']],
    ['our own label', { labels: { 'nodefence/maintenance': 'true' } }, ['nodefence']],
    ['our own annotation that says false', { annotations: { 'nodefence/maintenance': 'false' } }, []],
    ['a reboot by kured', { annotations: { 'weave.works/kured-reboot-in-progress': '2026-01-01' } }, ['kured']],
    ['the exclusion of medik8s', { labels: { 'remediation.medik8s.io/exclude-from-remediation': 'true' } }, ['medik8s-exclude']],
    ['that exclusion with another value', { labels: { 'remediation.medik8s.io/exclude-from-remediation': 'no' } }, []],
    ['somebody else’s annotation', { annotations: { 'example.org/maintenance': 'true' } }, []],
  ])('%s', (_words, metadata, sources) => {
    expect(presentMarks(node(metadata)).map((mark) => mark.source)).toEqual(sources);
  });

  it('say where they stand', () => {
    expect(presentMarks(node({ annotations: { 'nodefence/maintenance': 'disk' } }))[0]?.where).toBe(
      'annotation nodefence/maintenance=disk on Node a',
    );
  });

  const deletions: [string, Node, string][] = [
    ['the autoscaler’s taint', node({}, taint('ToBeDeletedByClusterAutoscaler')), 'autoscaler'],
    ['Karpenter’s taint', node({}, taint('karpenter.sh/disrupted')), 'karpenter'],
    ['a Node that Karpenter terminates', node({ deletionTimestamp: 'now', finalizers: ['karpenter.sh/termination'] }), 'karpenter'],
    ['MCM’s annotation', node({ annotations: { 'node.machine.sapcloud.io/trigger-deletion-by-mcm': 'true' } }), 'machine-controller-manager'],
    ['MCM’s condition', node({}, {}, [{ type: 'Terminating', status: 'True' }]), 'machine-controller-manager'],
  ];
  it.each(deletions)('of a deletion leave the node to them unless its pods hang: %s', (_words, marked, source) => {
    expect(isConditional(marked)).toBe(true);
    expect(conditionalMarks(marked, QUIET).map((mark) => mark.source)).toEqual([source]);
    expect(conditionalMarks(marked, { ...QUIET, isHanging: true })).toEqual([]);
  });

  it('a mere candidate for scale-down is none', () => {
    expect(isConditional(node({}, taint('DeletionCandidateOfClusterAutoscaler')))).toBe(false);
  });

  it('an admin’s cordon counts only when no workload is left, and never when it is ours', () => {
    const cordoned = node({}, { unschedulable: true });
    expect(conditionalMarks(cordoned, QUIET)).toEqual([]);
    expect(conditionalMarks(cordoned, { ...QUIET, isEmpty: true }).map((mark) => mark.source)).toEqual(['cordon']);
    expect(conditionalMarks(cordoned, { ...QUIET, isEmpty: true, isCordonOurs: true })).toEqual([]);
    const kept = node({ annotations: { 'ha.k8s.io/preserve-cordoned': 'true' } }, { unschedulable: true });
    expect(conditionalMarks(kept, { ...QUIET, isEmpty: true })).toEqual([]);
  });
});

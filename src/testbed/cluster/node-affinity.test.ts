import { describe, expect, it } from 'vitest';
import type { NodeRequirement, NodeTerm, PodTemplateSpec, WorldNode } from './kinds.ts';
import { admits } from './node-affinity.ts';

const NODE: WorldNode = { metadata: { name: 'a', labels: { type: 'compute', cores: '8' } }, spec: {}, status: {} };

function required(...nodeSelectorTerms: NodeTerm[]): PodTemplateSpec {
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}

describe('a pod and the node that it may run on', () => {
  it.each([
    [true, {}],
    [true, { nodeSelector: { type: 'compute' } }],
    [false, { nodeSelector: { type: 'storage' } }],
    [true, required({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] })],
    [false, required({ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['a'] }] })],
    [false, required({})],
    [false, required()],
  ])('%s: %j', (wanted, spec) => {
    expect(admits(spec, NODE)).toBe(wanted);
  });

  it.each<[boolean, NodeRequirement]>([
    [true, { key: 'type', operator: 'In', values: ['x', 'compute'] }],
    [false, { key: 'no', operator: 'In', values: ['compute'] }],
    [true, { key: 'no', operator: 'NotIn', values: ['compute'] }],
    [true, { key: 'type', operator: 'Exists' }],
    [false, { key: 'type', operator: 'DoesNotExist' }],
    [true, { key: 'cores', operator: 'Gt', values: ['4'] }],
    [false, { key: 'cores', operator: 'Lt', values: ['4'] }],
  ])('%s where its label %j', (wanted, requirement) => {
    expect(admits(required({ matchExpressions: [requirement] }), NODE)).toBe(wanted);
  });

  it('takes terms for alternatives, and what stands in one for all needed', () => {
    const [yes, no] = [
      { key: 'type', operator: 'Exists' },
      { key: 'no', operator: 'Exists' },
    ];
    expect(admits(required({ matchExpressions: [no] }, { matchExpressions: [yes] }), NODE)).toBe(true);
    expect(admits(required({ matchExpressions: [yes, no] }), NODE)).toBe(false);
  });
});

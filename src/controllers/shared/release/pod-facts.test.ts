import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../ports/objects.ts';
import { factsOf } from './pod-facts.ts';

type Toleration = NonNullable<Pod['spec']['tolerations']>[number];

const KEY = 'node.kubernetes.io/out-of-service';

function staying(...tolerations: Toleration[]): string {
  const { isMeantToStay, staysForNow } = factsOf({ metadata: { name: 'a' }, spec: { nodeName: 'a', tolerations } });
  return [isMeantToStay ? 'for ever' : '', staysForNow ? 'for now' : ''].join('') || 'no';
}

describe('a pod stays behind the out-of-service taint', () => {
  it.each<[string, Toleration]>([
    ['for ever', { operator: 'Exists' }],
    ['for ever', { key: KEY, operator: 'Exists', effect: 'NoExecute' }],
    ['for ever', { key: KEY, operator: 'Equal', value: 'nodeshutdown' }],
    ['for ever', { key: KEY, value: 'nodeshutdown' }],
    ['for now', { key: KEY, operator: 'Exists', tolerationSeconds: 1 }],
    ['no', { key: KEY, operator: 'Exists', tolerationSeconds: 0 }],
    ['no', { key: KEY, operator: 'Exists', tolerationSeconds: -1 }],
    ['no', { key: KEY, operator: 'Equal', value: 'other' }],
    ['no', { key: KEY, operator: 'Equal' }],
    ['no', { key: KEY, operator: 'Exists', effect: 'NoSchedule' }],
    ['no', { key: 'node.kubernetes.io/unreachable', operator: 'Exists' }],
  ])('%s: %j', (expected, toleration) => {
    expect(staying(toleration)).toBe(expected);
  });

  it('where one of its tolerations says so', () => {
    expect(staying({ key: 'other', operator: 'Exists' }, { key: KEY, operator: 'Exists' })).toBe('for ever');
    expect(staying()).toBe('no');
  });
});

it('a pod is of the owner that controls it, not of another', () => {
  const owner = { apiVersion: 'v1', name: 'x', uid: 'x' };
  const ownerReferences = [
    { ...owner, kind: 'Other' },
    { ...owner, kind: 'DaemonSet', controller: true },
  ];
  expect(factsOf({ metadata: { name: 'a', ownerReferences }, spec: { nodeName: 'a' } })).toMatchObject({
    ownerKind: 'DaemonSet',
    namespace: 'default',
  });
});

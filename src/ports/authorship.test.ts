import { describe, expect, it } from 'vitest';
import { ADMISSION_BINDINGS, ADMISSION_POLICIES, authorOf, AUTHORSHIP_GUARD, NOBODY_VOUCHES, REQUESTED_BY, voucher } from './authorship.ts';
import type { Cluster, Resource } from './cluster.ts';
import type { KubeObject } from './objects.ts';

const T0 = Date.UTC(2026, 10, 26, 10, 0, 0);
const DENIES = { policyName: AUTHORSHIP_GUARD, validationActions: ['Deny'] };

function at(seconds: number, more: object = {}): KubeObject {
  return { metadata: { name: 'x', creationTimestamp: new Date(T0 + seconds * 1_000).toISOString() }, ...more };
}

function word(seconds: number): KubeObject {
  const object = at(seconds);
  return { ...object, metadata: { ...object.metadata, annotations: { [REQUESTED_BY]: 'olga' } } };
}

function serving(policy: KubeObject | undefined, binding: KubeObject | undefined): Pick<Cluster, 'get'> {
  const known = new Map<string, KubeObject | undefined>([
    [ADMISSION_POLICIES.plural, policy],
    [ADMISSION_BINDINGS.plural, binding],
  ]);
  return { get: <T extends KubeObject>({ plural }: Resource<T>) => Promise.resolve(known.get(plural) as T | undefined) };
}

async function said(policy: KubeObject | undefined, binding: KubeObject | undefined, object: KubeObject): Promise<string | undefined> {
  return authorOf(object, await voucher(serving(policy, binding)));
}

const CLAIM = 'somebody who claims to be olga';

describe('the author of an object', () => {
  it('is whom it names where the guard stood before it', async () => {
    expect(await said(at(0), at(1, { spec: DENIES }), word(100))).toBe('olga');
  });

  it.each<[string, KubeObject | undefined, KubeObject | undefined, number]>([
    ['there is no guard', undefined, undefined, 100],
    ['it is bound to nothing', at(0), undefined, 100],
    ['it warns only', at(0), at(1, { spec: { ...DENIES, validationActions: ['Warn'] } }), 100],
    ['the binding is of another policy', at(0), at(1, { spec: { ...DENIES, policyName: 'other' } }), 100],
    ['the object is older', at(200), at(1, { spec: DENIES }), 100],
    ['not every API server may have known it yet', at(0), at(90, { spec: DENIES }), 100],
    ['nobody knows since when it stands', { metadata: { name: 'x' } }, at(1, { spec: DENIES }), 100],
  ])('is a claim where %s', async (_what, policy, binding, seconds) => {
    expect(await said(policy, binding, word(seconds))).toBe(CLAIM);
  });

  it('is a claim where the guard may not be seen', async () => {
    const refusing: Pick<Cluster, 'get'> = { get: () => Promise.reject(new Error('forbidden')) };
    expect(authorOf(word(100), await voucher(refusing))).toBe(CLAIM);
  });

  it('is nobody where it names none', () => {
    expect(authorOf(at(100), NOBODY_VOUCHES)).toBeUndefined();
  });
});

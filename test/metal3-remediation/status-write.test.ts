import { describe, expect, it } from 'vitest';
import { perform } from '../../src/controllers/metal3-remediation/perform.ts';
import type { Action } from '../../src/controllers/metal3-remediation/actions.ts';
import type { Observation } from '../../src/controllers/metal3-remediation/observe.ts';
import { ReadObjects } from '../../src/controllers/shared/baremetal-host/write.ts';
import { Conflict } from '../../src/controllers/shared/conflict.ts';

const TARGET = { apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1', kind: 'Metal3Remediation', namespace: 'metal3', name: 'r', uid: 'uid-r' };
const AT = '2026-01-01T00:00:00Z';
const ACTION: Action = {
  kind: 'status',
  target: TARGET,
  was: { phase: 'Running', retryCount: 1, lastRemediatedMs: Date.parse(AT) },
  to: { phase: 'Waiting', retryCount: 1, lastRemediatedMs: Date.parse(AT) },
};

/** What is written over a remediation whose status says this. */
async function written(status: object): Promise<unknown[]> {
  const bodies: unknown[] = [];
  const object = { metadata: { name: 'r', namespace: 'metal3', uid: 'uid-r', resourceVersion: '7' }, status };
  const objects = new ReadObjects();
  objects.put(TARGET, object);
  const mergePatch = (_resource: unknown, _name: string, body: unknown, options: object): Promise<unknown> => {
    bodies.push({ body, ...options });
    return Promise.resolve(object);
  };
  const dependencies = { own: { cluster: { mergePatch } } } as unknown as Parameters<typeof perform>[0];
  const memory = { uid: 'uid-r' } as unknown as Parameters<typeof perform>[1];
  await perform(dependencies, memory, { objects } as unknown as Observation, ACTION);
  return bodies;
}

describe('the status of a Metal3Remediation', () => {
  it('is written under the uid and the version that it was decided for', async () => {
    expect(await written({ phase: 'Running', retryCount: 1, lastRemediated: AT })).toEqual([
      {
        body: { metadata: { uid: 'uid-r', resourceVersion: '7' }, status: { phase: 'Waiting', retryCount: 1, lastRemediated: AT } },
        namespace: 'metal3',
        subresource: 'status',
      },
    ]);
  });

  it.each([
    ['another phase', { phase: 'Deleting machine', retryCount: 1, lastRemediated: AT }],
    ['another count', { phase: 'Running', retryCount: 2, lastRemediated: AT }],
    ['another time', { phase: 'Running', retryCount: 1, lastRemediated: '2026-01-01T00:05:00Z' }],
    ['nothing any more', {}],
  ])('is left alone where somebody else wrote %s', async (_what, status) => {
    await expect(written(status)).rejects.toBeInstanceOf(Conflict);
  });
});

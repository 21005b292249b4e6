import { describe, expect, it } from 'vitest';

import type { Json } from '../../../domain/remedy/configuration.ts';
import { remedyJobName } from './intent.ts';
import type { RemedyIntent } from './intent.ts';
import { refusalOf, remedyJob, secretsOf } from './spec.ts';
import type { RemedyOrder, RemedyPod } from './spec.ts';

const INTENT: RemedyIntent = {
  node: 'worker-1',
  nodeUid: '0b5c7cf2-3d3a-4d55-9d0e-0c6f5d5fbe1a',
  condition: 'Ready=False',
  run: 'r-1',
  attempt: 2,
  remedy: 'repair',
};

const ORDER: RemedyOrder = {
  namespace: 'fence',
  intent: INTENT,
  target: {
    condition: { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' },
    providerId: 'aws:///zone/i-1',
    addresses: ['192.0.2.10', 'worker-1'],
    taints: [
      { key: 'example.org/dedicated', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' },
    ],
  },
  deadlineMs: 600_000,
};

/** As the design of 2018 has it, read. */
const REPAIR: RemedyPod = {
  template: { spec: { containers: [{ name: 'repair', image: 'i', command: ['binary', 'clean node command'] }], restartPolicy: 'Never' } },
  references: [{ container: 'repair', isInit: false, secrets: ['secret-key'], configMaps: ['fence-method-config'] }],
  runOn: 'other',
};

function specOf(change: Record<string, Json> = {}, more: Partial<RemedyPod> = {}, order = ORDER) {
  return remedyJob(order, { ...REPAIR, ...more, template: { spec: { ...REPAIR.template.spec, ...change } } }).spec.template.spec;
}

describe('the Job of a remedy', () => {
  it('is tried once, ends by its deadline, and is cleaned up', () => {
    const { spec } = remedyJob(ORDER, REPAIR);
    expect(spec).toMatchObject({ backoffLimit: 0, activeDeadlineSeconds: 600, ttlSecondsAfterFinished: 3_600 });
    expect(spec.template.spec).toMatchObject({ restartPolicy: 'Never', activeDeadlineSeconds: 600 });
    expect(specOf({ restartPolicy: 'OnFailure' }).restartPolicy).toBe('Never');
    expect(specOf({ terminationGracePeriodSeconds: 900 }).terminationGracePeriodSeconds).toBe(30);
  });

  it('never runs on the sick node, in no alternative of the template', () => {
    const zone = (value: string) => ({ matchExpressions: [{ key: 'zone', operator: 'In', values: [value] }] });
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [zone('x'), {}, zone('y')] } } };
    const terms = specOf({ affinity }).affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
    expect(terms).toHaveLength(2);
    for (const term of terms ?? []) {
      expect(term.matchFields).toEqual([{ key: 'metadata.name', operator: 'NotIn', values: ['worker-1'] }]);
      expect(term.matchExpressions).toContainEqual({ key: 'kubernetes.io/hostname', operator: 'NotIn', values: ['worker-1'] });
    }
    expect(specOf().tolerations).toBeUndefined();
  });

  it('with runOn target runs on the sick node alone, whose taints it tolerates, but not one behind which it is proven gone', () => {
    const spec = specOf({ tolerations: [{ key: 'own', operator: 'Exists' }] }, { runOn: 'target' });
    expect(spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms).toEqual([
      { matchExpressions: [], matchFields: [{ key: 'metadata.name', operator: 'In', values: ['worker-1'] }] },
    ]);
    const keys = spec.tolerations?.map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(['own', 'example.org/dedicated', 'node.kubernetes.io/unreachable', 'node.kubernetes.io/not-ready']));
    expect(keys).not.toContain('node.kubernetes.io/out-of-service');
  });

  it('has an account without rights, and no token, unless the template names one', () => {
    const token = { automountServiceAccountToken: true };
    expect(specOf(token)).toMatchObject({ serviceAccountName: 'nodefence-remedy', automountServiceAccountToken: false });
    expect(specOf({ ...token, serviceAccountName: 'ansible' })).toMatchObject({ serviceAccountName: 'ansible', ...token });
  });

  it('reads the Secrets and ConfigMaps that its container names, and no other container does', () => {
    const second = { name: 'second', image: 'i', envFrom: [{ configMapRef: { name: 'own' } }] };
    const first = { name: 'repair', image: 'i' };
    const spec = specOf({ containers: [first, second], initContainers: [first] });
    expect(spec.containers.map(({ envFrom }) => envFrom)).toEqual([
      [{ secretRef: { name: 'secret-key' } }, { configMapRef: { name: 'fence-method-config' } }],
      [{ configMapRef: { name: 'own' } }],
    ]);
    expect((spec['initContainers'] as { envFrom?: unknown }[])[0]?.envFrom).toBeUndefined();
  });

  it('is told which node it is for, whatever the template says of that', () => {
    const env = [
      { name: 'NODE_NAME', value: 'another' },
      { name: 'KEPT', value: 'yes' },
    ];
    const told = specOf({ containers: [{ name: 'repair', image: 'i', env }] }).containers[0]?.['env'];
    expect(told).toEqual([
      { name: 'KEPT', value: 'yes' },
      { name: 'NODE_NAME', value: 'worker-1' },
      { name: 'NODE_CONDITION_TYPE', value: 'Ready' },
      { name: 'NODE_CONDITION_STATUS', value: 'Unknown' },
      { name: 'NODE_CONDITION_REASON', value: 'NodeStatusUnknown' },
      { name: 'PROVIDER_ID', value: 'aws:///zone/i-1' },
      { name: 'NODE_ADDRESSES', value: '192.0.2.10,worker-1' },
      { name: 'REMEDY_NAME', value: 'repair' },
      { name: 'ATTEMPT', value: '2' },
    ]);
  });

  it('takes what a condition says as it is: no value of the pod is filled into it', () => {
    const target = { ...ORDER.target, condition: { type: 'Own', status: 'True', reason: '$(PASSWORD)$' } };
    expect(specOf({}, {}, { ...ORDER, target }).containers[0]?.['env']).toContainEqual({ name: 'NODE_CONDITION_REASON', value: '$$(PASSWORD)$$' });
  });

  it('has a name of its intent alone, another one for any other intent', () => {
    expect(remedyJobName(INTENT)).toMatch(/^nr-repair-[0-9a-f]{16}$/);
    const changes: Partial<RemedyIntent>[] = [{ nodeUid: 'another' }, { condition: 'Ready~flap' }, { run: 'r-2' }, { attempt: 3 }];
    expect(new Set([INTENT, ...changes.map((change) => ({ ...INTENT, ...change }))].map(remedyJobName)).size).toBe(5);
    expect(remedyJobName({ ...INTENT, remedy: `Long ${'x'.repeat(300)}` }).length).toBeLessThan(58);
  });

  it('is refused where its template chooses a node by name', () => {
    const pod = { ...REPAIR, template: { spec: { ...REPAIR.template.spec, nodeName: 'worker-1' } } };
    expect(refusalOf(pod)).toMatch('spec.nodeName must not be there');
    expect(() => remedyJob(ORDER, pod)).toThrow('spec.nodeName');
    expect(refusalOf(REPAIR)).toBeUndefined();
  });
});

describe('the Secrets of a pod', () => {
  it('are those of its variables, volumes and projections', () => {
    const volumes = [
      { name: 'a', secret: { secretName: 'mounted' } },
      { name: 'b', projected: { sources: [{ secret: { name: 'projected' } }] } },
    ];
    const env = [{ name: 'P', valueFrom: { secretKeyRef: { name: 'one-key', key: 'k' } } }];
    expect(secretsOf({ spec: specOf({ volumes, containers: [{ name: 'repair', image: 'i', env }] }) })).toEqual([
      'mounted',
      'one-key',
      'projected',
      'secret-key',
    ]);
  });
});

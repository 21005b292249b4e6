import { describe, expect, it } from 'vitest';

import { job } from './definition.ts';
import { jobName, jobOf, templateOf } from './job-spec.ts';
import type { JobOrder } from './job-spec.ts';

const ORDER: JobOrder = {
  namespace: 'fence',
  node: 'worker-1',
  action: 'off',
  device: '192.0.2.30',
  plug: '3',
  intent: 'outlet-off-0b5c7cf2-3d3a-4d55-9d0e-0c6f5d5fbe1a',
  serial: '',
  arguments: ['action=off'],
  secret: undefined,
  deadlineMs: 6_500,
};

function termsOf(template: string): unknown {
  const { affinity } = jobOf(ORDER, templateOf(template)).spec.template.spec;
  return affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
}

const OFF_TARGET = {
  matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'NotIn', values: ['worker-1'] }],
  matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['worker-1'] }],
};

describe('the Job of an order', () => {
  it('keeps off its target, by the name of the Node and by the label of the host', () => {
    expect(termsOf('spec: { containers: [{ name: a }] }')).toEqual([OFF_TARGET]);
  });

  it('keeps off its target in each alternative that the template has, and adds none', () => {
    const zone = (value: string) => `{ matchExpressions: [{ key: zone, operator: In, values: [${value}] }] }`;
    const affinity = `{ nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [${zone('x')}, {}, ${zone('y')}] } } }`;
    const expected = ['x', 'y'].map((value) => ({
      ...OFF_TARGET,
      matchExpressions: [{ key: 'zone', operator: 'In', values: [value] }, ...OFF_TARGET.matchExpressions],
    }));
    expect(termsOf(`spec: { affinity: ${affinity}, containers: [{ name: a }] }`)).toEqual(expected);
  });

  it('has a name of its intent and action alone, that a Job may have', () => {
    const long = jobName({ ...ORDER, intent: `Very_Long.${'x'.repeat(190)}:2-0b5c7cf2-3d3a-4d55-9d0e-0c6f5d5fbe1a` });
    expect(long).toMatch(/^nf-very-long-x+-[0-9a-f]{12}$/);
    expect(long.length).toBeLessThan(58);
    expect(jobName({ ...ORDER, deadlineMs: 1, arguments: [] })).toBe(jobName(ORDER));
    const others = [{ action: 'on' as const }, { plug: '4' }, { device: 'other' }, { intent: 'outlet-off-2' }].map((change) =>
      jobName({ ...ORDER, ...change }),
    );
    expect(new Set([jobName(ORDER), ...others]).size).toBe(5);
  });

  it('takes the rest of the template as it is, and no account that the template does not name', () => {
    const spec =
      'spec: { priorityClassName: high, terminationGracePeriodSeconds: 600, containers: [{ name: a, image: i, volumeMounts: [{ name: v, mountPath: /v }] }], volumes: [{ name: v, emptyDir: {} }] }';
    const made = jobOf(ORDER, templateOf(`podTemplate:\n  ${spec}`)).spec.template.spec;
    expect(made).toMatchObject({
      priorityClassName: 'high',
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 2,
      automountServiceAccountToken: false,
      volumes: [{ name: 'v' }, { name: 'nodefence-call' }],
      containers: [{ image: 'i', volumeMounts: [{ mountPath: '/v' }, { mountPath: '/run/nodefence/call', readOnly: true }] }],
    });
    expect(jobOf(ORDER, templateOf('spec: { automountServiceAccountToken: true, containers: [{ name: a }] }')).spec.template.spec).toMatchObject({
      automountServiceAccountToken: true,
    });
  });

  it.each([
    ['spec: { containers: [{ name: a }, { name: b }] }', 'spec.containers'],
    ['spec: { restartPolicy: OnFailure, containers: [{ name: a }] }', 'spec.restartPolicy'],
    ['spec: { tolerations: [{ key: node.kubernetes.io/unreachable }], containers: [{ name: a }] }', 'must not tolerate'],
    ['spec: { volumes: [{ name: nodefence-secret }], containers: [{ name: a }] }', 'are taken'],
    [
      'spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: all } } }, containers: [{ name: a }] }',
      'nodeSelectorTerms',
    ],
    ['just words', 'expected object'],
  ])('is refused for the template %s', (text, message) => {
    expect(() => templateOf(text)).toThrow(message);
  });
});

describe('the parameters of a Job', () => {
  const check = (parameters: Record<string, string>) => job.check({ pod_template: 'jobs/pdu', ...parameters }, true).map(({ message }) => message);

  it('are a place of the template, and lines that say nothing of what the core says', () => {
    expect(check({ options: 'ipport=161; snmp_version=3' })).toEqual([]);
    expect(check({ pod_template: 'jobs' })).toHaveLength(1);
    expect(check({ pod_template: '../a/b' })).toHaveLength(1);
    expect(check({ options: 'action=off' })).toEqual(['may not set action, plug, nodename, ip, username']);
    expect(check({ options: 'nonsense' })).toHaveLength(1);
    expect(check({ ip: 'a\nb' })).toHaveLength(1);
  });

  it('name the device by its address, or by the template', () => {
    expect(job.deviceKey({ pod_template: 'jobs/pdu', ipaddr: 'PDU.example.org' })).toBe('pdu.example.org');
    expect(job.deviceKey({ pod_template: 'jobs/pdu' })).toBe('job jobs/pdu');
  });
});

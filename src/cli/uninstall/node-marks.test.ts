import { describe, expect, it } from 'vitest';
import { CORDON_MARK, fenceName } from '../../domain/node-fence.ts';
import { node } from '../commands/testing/pictured-cluster.ts';
import { takenBack } from './node-marks.ts';

const OUT_OF_SERVICE = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
const THEIRS = { key: 'theirs', effect: 'NoSchedule' };

function marked(annotations: Record<string, string>, spec: object): ReturnType<typeof node> {
  const one = node('a', 'True', 60, spec);
  return { ...one, metadata: { ...one.metadata, resourceVersion: '7', annotations } };
}

describe('what an uninstallation takes back on a Node', () => {
  it('takes back nothing that carries no mark of ours', () => {
    const autoscaler = {
      'nodefence.ha.k8s.io/scale-down-disabled-by': 'node-fence-a',
      'cluster-autoscaler.kubernetes.io/scale-down-disabled': 'true',
    };
    expect(takenBack(marked({}, { unschedulable: true, taints: [OUT_OF_SERVICE] }), false)).toBeUndefined();
    expect(takenBack(marked(autoscaler, { unschedulable: true, taints: [OUT_OF_SERVICE] }), false)?.patch).toMatchObject({ spec: {} });
    expect(takenBack(marked(autoscaler, { unschedulable: true }), false)?.words).toEqual(['the autoscaler is let back']);
  });

  it('takes back our cordon and our taints, and leaves the taints of others', () => {
    const marks = {
      [CORDON_MARK]: fenceName('a'),
      'nodefence.ha.k8s.io/out-of-service-by': 'x',
      'nodefence.ha.k8s.io/tainted': 'fenced=yes:NoExecute',
    };
    const fenced = { key: 'fenced', value: 'yes', effect: 'NoExecute' };
    const change = takenBack(marked(marks, { unschedulable: true, taints: [OUT_OF_SERVICE, THEIRS, fenced] }), false);
    expect(change?.patch).toEqual({
      metadata: { resourceVersion: '7', annotations: Object.fromEntries(Object.keys(marks).map((key) => [key, null])) },
      spec: { unschedulable: null, taints: [THEIRS] },
    });
  });

  it('takes back the cordon of a remedy, and its records', () => {
    const marks = {
      'nodefence.ha.k8s.io/cordoned-by-remedy': 'run',
      'nodefence.ha.k8s.io/remediation-timestamp': '2026-11-25T00:00:00Z',
      'nodefence.ha.k8s.io/remediation-podname': 'p',
    };
    const change = takenBack(marked(marks, { unschedulable: true }), false);
    expect(change?.patch).toMatchObject({ metadata: { annotations: Object.fromEntries(Object.keys(marks).map((key) => [key, null])) } });
    expect(change?.words).toEqual(['uncordoned']);
  });

  it('leaves a cordon that somebody set after the one of a remedy was taken away, and takes its mark', () => {
    const mark = 'nodefence.ha.k8s.io/cordoned-by-remedy';
    const fields = [
      { manager: 'nodefence', fieldsV1: { 'f:metadata': { 'f:annotations': { [`f:${mark}`]: {} } } } },
      { manager: 'kubectl', fieldsV1: { 'f:spec': { 'f:unschedulable': {} } } },
    ];
    const node = marked({ [mark]: 'run' }, { unschedulable: true });
    const change = takenBack({ ...node, metadata: { ...node.metadata, managedFields: fields } }, false);
    expect(change?.patch).toEqual({ metadata: { resourceVersion: '7', annotations: { [mark]: null } }, spec: {} });
  });

  it('keeps the cordon where the way to storage stays closed, and takes its mark away', () => {
    const change = takenBack(marked({ [CORDON_MARK]: fenceName('a') }, { unschedulable: true }), true);
    expect(change?.patch).toMatchObject({ spec: {}, metadata: { annotations: { [CORDON_MARK]: null } } });
    expect(change?.words).toEqual(['our cordon stays, without our mark']);
  });
});

import { describe, expect, it } from 'vitest';
import type { Pod } from '../../ports/objects.ts';
import { chosenWorkloads, WORKLOADS_MAX, workloadsOn } from './workloads.ts';

const MADE = '2026-03-01T10:00:00Z';
const MADE_MS = Date.parse(MADE);
/** The minute of MADE. */
const MINUTE = MADE_MS / 60_000;

function podOf(kind: string, name: string, more: { hash?: string; made?: string; phase?: string; isController?: boolean } = {}): Pod {
  return {
    metadata: {
      name: `${name}-x`,
      namespace: 'shop',
      creationTimestamp: more.made ?? MADE,
      labels: more.hash === undefined ? {} : { 'pod-template-hash': more.hash },
      ownerReferences: [{ apiVersion: 'v', kind, name, uid: 'u', controller: more.isController ?? true }],
    },
    spec: { nodeName: 'a' },
    status: { phase: more.phase ?? 'Running' },
  };
}

describe('the workloads on a node', () => {
  it.each<[string, Pod, string[]]>([
    ['a Deployment, whatever its ReplicaSet is called now', podOf('ReplicaSet', 'web-5d9c7b', { hash: '5d9c7b' }), ['Deployment shop/web']],
    ['a ReplicaSet of nobody', podOf('ReplicaSet', 'web'), ['ReplicaSet shop/web']],
    ['a StatefulSet', podOf('StatefulSet', 'db'), ['StatefulSet shop/db']],
    ['a CronJob, whichever run', podOf('Job', `report-${MINUTE}`), ['CronJob shop/report']],
    ['a Job with a number that is no time', podOf('Job', 'report-12345678'), ['Job shop/report-12345678']],
    ['a kind that somebody brought', podOf('RayCluster', 'train'), ['RayCluster shop/train']],
    ['not DaemonSets, which are everywhere', podOf('DaemonSet', 'proxy'), []],
    ['not static pods', podOf('Node', 'a'), []],
    ['not what has ended', podOf('StatefulSet', 'db', { phase: 'Failed' }), []],
    ['not owners that do not control', podOf('StatefulSet', 'db', { isController: false }), []],
  ])('are %s', (_what, pod, workloads) => {
    expect(workloadsOn([pod]).map(({ workload }) => workload)).toEqual(workloads);
  });

  it('count from the first of their pods', () => {
    const [older, younger] = [podOf('StatefulSet', 'db', { made: '2026-03-01T09:00:00Z' }), podOf('StatefulSet', 'db')];
    expect(workloadsOn([younger, older])).toEqual([{ workload: 'StatefulSet shop/db', sinceMs: Date.parse('2026-03-01T09:00:00Z') }]);
  });
});

describe('whose pods a problem is counted for', () => {
  const all = Array.from({ length: 40 }, (_, index) => ({ workload: `StatefulSet shop/w${index}`, sinceMs: index }));

  it('is nobody who came later', () => {
    expect(chosenWorkloads(all, 1, () => false)).toEqual(['StatefulSet shop/w1', 'StatefulSet shop/w0']);
  });

  it('is, of too many, who was counted for the same before, and then who came last', () => {
    const chosen = chosenWorkloads(all, 99, (workload) => workload === 'StatefulSet shop/w0');
    expect(chosen).toHaveLength(WORKLOADS_MAX);
    expect(chosen.slice(0, 3)).toEqual(['StatefulSet shop/w0', 'StatefulSet shop/w39', 'StatefulSet shop/w38']);
  });
});

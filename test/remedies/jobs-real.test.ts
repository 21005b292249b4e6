import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { RemedyJobs } from '../../src/controllers/remedies/job/jobs.ts';
import type { RemedyIntent } from '../../src/controllers/remedies/job/intent.ts';
import type { RemedyOutcome } from '../../src/controllers/remedies/job/outcome.ts';
import type { RemedyOrder, RemedyPod } from '../../src/controllers/remedies/job/spec.ts';
import { JOB_PODS } from '../../src/ports/batch.ts';
import type { BatchJob, JobPod } from '../../src/ports/batch.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import { HAS_REAL_SERVER, NEEDS_REAL_SERVER, RealServer, START_DEADLINE_MS } from '../integration/real-server.ts';
import { reach } from '../reach.ts';
import { until } from '../scenarios/waiting.ts';

const NAMESPACE = 'fence';
const NAMESPACES = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const INTENT: RemedyIntent = { node: 'worker-1', nodeUid: 'n-1', condition: 'Ready=False', run: 'r-1', attempt: 1, remedy: 'repair' };
const POD: RemedyPod = {
  template: { spec: { containers: [{ name: 'repair', image: 'IMAGE:VERSION', command: ['binary', 'clean node command'] }], restartPolicy: 'Never' } },
  references: [{ container: 'repair', isInit: false, secrets: ['secret-key'], configMaps: ['fence-method-config'] }],
  runOn: 'other',
};
const TARGET = {
  condition: { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' },
  providerId: 'aws:///zone/i-1',
  addresses: ['192.0.2.10'],
  taints: [],
};

describe.runIf(HAS_REAL_SERVER)(`Jobs of remedies and the real Job controller (${NEEDS_REAL_SERVER})`, { timeout: START_DEADLINE_MS }, () => {
  let server: RealServer;
  let cluster: Cluster;
  let jobs: RemedyJobs;

  beforeAll(async () => {
    server = await RealServer.start();
    cluster = reach(server.transport('operator'));
    await cluster.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    jobs = new RemedyJobs(cluster, NAMESPACE);
  }, START_DEADLINE_MS);

  afterAll(async () => {
    await server.end();
  });

  async function begin(intent: RemedyIntent, more: Partial<RemedyOrder> = {}, pod = POD): Promise<BatchJob> {
    const order = { namespace: NAMESPACE, intent, target: TARGET, deadlineMs: 600_000, ...more };
    const answer = await jobs.begin({ order, pod, ageMs: 0, mayBegin: () => undefined });
    if (answer.kind !== 'there') throw new Error(answer.kind);
    return answer.job;
  }

  function podOf({ metadata }: BatchJob): Promise<JobPod> {
    const own = async (): Promise<JobPod | undefined> => {
      const pods = await cluster.list(JOB_PODS, { namespace: NAMESPACE });
      return pods.find((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));
    };
    return until(`a pod of ${metadata.name}`, own);
  }

  function ended(intent: RemedyIntent, { metadata }: BatchJob): Promise<RemedyOutcome> {
    const look = async (): Promise<RemedyOutcome | undefined> => {
      const outcome = await jobs.observe(intent, metadata.uid ?? '', { runOn: 'other', ageMs: 0, deadlineMs: 600_000 });
      return outcome.state === 'running' ? undefined : outcome;
    };
    return until(`the end of ${metadata.name}`, look, 60_000);
  }

  /** What its kubelet would say. */
  async function exit(pod: JobPod, exitCode: number): Promise<void> {
    const terminated = { exitCode, reason: 'x', startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:01Z' };
    const containerStatuses = [{ name: 'repair', image: 'i', imageID: 'i', ready: false, restartCount: 0, state: { terminated } }];
    const status = { phase: exitCode === 0 ? 'Succeeded' : 'Failed', containerStatuses };
    await cluster.mergePatch(JOB_PODS, pod.metadata.name, { status }, { namespace: NAMESPACE, subresource: 'status' });
  }

  it('takes the Job as it is made, and once, and judges it by its pod', async () => {
    const [job, same] = [await begin(INTENT), await begin(INTENT)];
    expect(same.metadata.uid).toBe(job.metadata.uid);
    const pod = await podOf(job);
    expect(pod.spec).toMatchObject({
      serviceAccountName: 'nodefence-remedy',
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      activeDeadlineSeconds: 600,
      containers: [{ envFrom: [{ secretRef: { name: 'secret-key' } }, { configMapRef: { name: 'fence-method-config' } }] }],
    });
    await exit(pod, 0);
    expect(await ended(INTENT, job)).toEqual({ state: 'succeeded', pod: pod.metadata.name });
  });

  it('does not try again a remedy that failed', async () => {
    const intent = { ...INTENT, run: 'r-2' };
    const job = await begin(intent);
    const pod = await podOf(job);
    await exit(pod, 3);
    expect(await ended(intent, job)).toMatchObject({ state: 'failed', mustGo: false, pod: pod.metadata.name });
    const pods = await cluster.list(JOB_PODS, { namespace: NAMESPACE });
    expect(pods.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === job.metadata.uid))).toHaveLength(1);
  });

  it('ends one that is wedged by its deadline, which counts as a failure', async () => {
    const intent = { ...INTENT, run: 'r-3' };
    const job = await begin(intent, { deadlineMs: 2_000 });
    expect(await ended(intent, job)).toMatchObject({ state: 'failed', message: expect.stringMatching('DeadlineExceeded') as string });
  });

  it('takes a pod for the sick node alone, which tolerates what it has', async () => {
    const pod = await podOf(await begin({ ...INTENT, run: 'r-4' }, {}, { ...POD, runOn: 'target' }));
    expect(pod.spec).toMatchObject({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['worker-1'] }] }],
          },
        },
      },
    });
    expect((pod.spec as { tolerations?: unknown }).tolerations).toContainEqual({ key: 'node.kubernetes.io/unreachable', operator: 'Exists' });
  });
});

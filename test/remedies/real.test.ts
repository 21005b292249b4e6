import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JOB_PODS, JOBS } from '../../src/ports/batch.ts';
import type { NodeCondition } from '../../src/ports/objects.ts';
import { CONFIG_MAPS, NODE_FENCE_REPORTS, NODES } from '../../src/ports/resources.ts';
import { Kubectl } from '../../src/testbed/shipped/kubectl.ts';
import { HAS_KUBECTL, HAS_REAL_SERVER, NEEDS_REAL_SERVER, START_DEADLINE_MS } from '../integration/real-server.ts';
import { PATIENCE_MS, RealWorld } from '../integration/real-world.ts';
import { until } from '../scenarios/waiting.ts';

const NAMESPACE = 'nodefence-system';
const PERIOD_MS = 2_000;
const CONFIGURATION = `
apiVersion: node-remedy/v1alpha
kind: Configuration
thresholdConfigs:
  - nodeConditionType: KernelDeadlock
    nodeConditionStatus: true
    nodeConditionPeriod: ${PERIOD_MS / 1_000}s
    latched: false
    remedy1: [{name: drain}, {period: 1s}]
    remedy2: [{name: repair}, {period: 10m}]
    recovery: [{name: uncordon}]
remedyConfigs:
  - name: repair
    podTemplate:
      spec:
        containers: [{name: repair, image: 'IMAGE:VERSION', command: [binary, clean node command]}]
        restartPolicy: Never
`;

describe.runIf(HAS_REAL_SERVER && HAS_KUBECTL)(
  `remedies on a real control plane (${NEEDS_REAL_SERVER}, kubectl)`,
  { timeout: 4 * PATIENCE_MS },
  () => {
    let world: RealWorld;

    beforeAll(async () => {
      world = await RealWorld.start(['a', 'b']);
      await new Kubectl(world.server.kubeconfig('operator'), world.server.folder).install(['remedies']);
    }, 2 * START_DEADLINE_MS);

    afterAll(async () => {
      await world.end();
    });

    async function says(status: NodeCondition['status']): Promise<void> {
      const now = new Date().toISOString().replace(/\.\d{3}Z$/u, 'Z');
      const condition = { type: 'KernelDeadlock', status, reason: 'DockerHung', message: '', lastHeartbeatTime: now, lastTransitionTime: now };
      const node = await world.cluster.get(NODES, 'a');
      const conditions = [...(node?.status.conditions ?? []).filter(({ type }) => type !== 'KernelDeadlock'), condition];
      await world.cluster.mergePatch(NODES, 'a', { status: { conditions } }, { subresource: 'status' });
    }

    async function reached(phase: string): Promise<void> {
      const look = async (): Promise<true | undefined> => {
        const [position] = (await world.cluster.get(NODE_FENCE_REPORTS, 'a'))?.status?.remedies?.positions ?? [];
        return [position?.phase, position?.run?.remedy].filter((part) => part !== undefined).join(' ') === phase ? true : undefined;
      };
      const stands = async (): Promise<string> => JSON.stringify((await world.cluster.get(NODE_FENCE_REPORTS, 'a'))?.status?.remedies);
      await until(`remedies to be ${phase}`, look, PATIENCE_MS / 2, stands);
    }

    const isCordoned = async (): Promise<true | undefined> => ((await world.cluster.get(NODES, 'a'))?.spec.unschedulable === true ? true : undefined);

    it('cordons, evicts by the real eviction API, runs one Job by the real Job controller, and takes the cordon back', async () => {
      await world.cluster.create(CONFIG_MAPS, { metadata: { name: 'fence-remedies', namespace: NAMESPACE }, data: { 'a.yaml': CONFIGURATION } });
      await says('True');
      await until('the cordon', isCordoned, PATIENCE_MS);
      await until('no pod of the workload is on a', async () => ((await world.podsOn('a')).length === 0 ? true : undefined), PATIENCE_MS);
      await reached('running repair');
      const [job, ...more] = await world.cluster.list(JOBS, { namespace: NAMESPACE });
      expect(more).toEqual([]);
      const pods = async (): Promise<string | undefined> =>
        (await world.cluster.list(JOB_PODS, { namespace: NAMESPACE })).find(({ metadata }) =>
          metadata.ownerReferences?.some(({ uid }) => uid === job?.metadata.uid),
        )?.metadata.name;
      const pod = await until('its pod', pods, PATIENCE_MS);
      await world.cluster.mergePatch(JOB_PODS, pod, { status: { phase: 'Succeeded' } }, { namespace: NAMESPACE, subresource: 'status' });
      await reached('waiting');
      await says('False');
      await reached('recovered');
      const node = await world.cluster.get(NODES, 'a');
      expect([node?.spec.unschedulable, node?.metadata.annotations?.['nodefence.ha.k8s.io/remediation-podname']]).toEqual([undefined, pod]);
      expect(world.violations()).toEqual([]);
    });
  },
);

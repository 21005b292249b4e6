import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAssets } from '../../src/testbed/control-plane/assets.ts';
import { CORDON_MARK, fenceName } from '../../src/domain/node-fence.ts';
import { DEFAULT_TIMING, EMPTY_PLAN } from '../../src/domain/plan.ts';
import { Daemon } from '../scenarios/daemon.ts';
import { until } from '../scenarios/waiting.ts';
import { Cluster, kubectlMinor } from './cluster.ts';

const ASSETS = findAssets(process.env);
const hasKubectl = kubectlMinor() >= 30;
/** NodeFence as the commit before this file had it, without its descriptions. */
const EARLIER = join(import.meta.dirname, 'fixtures', 'earlier-nodefences.json');
const LONG_AGO = '2026-01-01T00:00:00Z';
const NODE_STATUS = {
  nodeInfo: {
    bootID: 'boot-1',
    systemUUID: 'uuid-1',
    kubeletVersion: 'v1.30.0',
    osImage: '',
    kernelVersion: '',
    containerRuntimeVersion: '',
    machineID: '',
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: 'amd64',
  },
  conditions: [
    { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: '', lastTransitionTime: LONG_AGO, lastHeartbeatTime: LONG_AGO },
  ],
};

interface Fence {
  status: { state: string; incident: number; epoch: number; timeline: { isolatedAt?: string }; hold?: { policy: string; besides?: object[] } };
}

const SERVERS = {
  'the embedded API server': { isThere: hasKubectl },
  'a real API server': { isThere: hasKubectl && ASSETS !== undefined, assets: ASSETS },
};

describe.for(Object.entries(SERVERS))('an upgrade during a fence on %s', ([, server]) => {
  describe.runIf(server.isThere)('from the kinds of an earlier version', { timeout: 150_000 }, () => {
    const cluster = new Cluster();
    let daemon: Daemon | undefined;
    const fence = async (): Promise<Fence> => JSON.parse(await cluster.must(`get nodefence ${fenceName('a')} -o json`)) as Fence;

    beforeAll(async () => {
      await cluster.start('assets' in server ? server.assets : undefined);
      const others = ['nodefencestops', 'nodefenceacknowledgements', 'nodefencereports'].map((name) => `-f config/crd/${name}.yaml`);
      await cluster.must(`apply -f ${EARLIER} ${others.join(' ')}`);
      await cluster.must('apply -k config/rbac');
      const metadata = { name: 'a', annotations: { [CORDON_MARK]: fenceName('a') } };
      await cluster.must('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata, spec: { unschedulable: true } }));
      const node = cluster.file('node.json', JSON.stringify({ status: NODE_STATUS }));
      await cluster.must(`patch node a --subresource=status --type=merge --patch-file ${node}`);
      const uid = await cluster.must('get node a -o jsonpath={.metadata.uid}');
      const own = { name: fenceName('a'), finalizers: ['nodefence.ha.k8s.io/fence'] };
      await cluster.must('create -f -', JSON.stringify({ apiVersion: 'ha.k8s.io/v1', kind: 'NodeFence', metadata: own, spec: { node: 'a' } }));
      const counts = { state: 'running', step: 'power-management', level: 1, incident: 4, epoch: 3, retries: 0, restarts: 0 };
      const lists = { jobs: [], journal: [], evidence: [], timeline: { failedAt: LONG_AGO, isolatedAt: LONG_AGO }, conditions: [], history: [] };
      const frozen = { nodeUID: uid, bootID: 'boot-1', plan: { ...EMPTY_PLAN, timing: DEFAULT_TIMING } };
      const status = cluster.file('status.json', JSON.stringify({ status: { ...counts, ...lists, frozen, restore: { cordoned: true } } }));
      await cluster.must(`patch nodefence ${fenceName('a')} --subresource=status --type=merge --patch-file ${status}`);
    }, 150_000);
    afterAll(async () => {
      await daemon?.kill();
      await cluster.end();
    });

    it('the new controller does not lead in mode enforce, says which command mends it, and touches nothing', async () => {
      const before = await fence();
      daemon = new Daemon(await cluster.controllerKubeconfig(), ['--mode', 'enforce']);
      await daemon.says('starting', 60_000);
      const refusal = async (): Promise<string | undefined> =>
        /self-check: .*nodefences\.ha\.k8s\.io.*kubectl apply.*/u.exec((await daemon?.readyz())?.body ?? '')?.[0];
      expect(await until('the self-check speaks', refusal, 60_000)).toContain('config/crd');
      expect(daemon.logged('leading')).toBe(false);
      expect(await fence()).toEqual(before);
    });

    it('leads by itself once the kinds are applied, and goes on with the fence where it stood', async () => {
      await cluster.must('apply -k config/crd');
      await daemon?.says('leading', 60_000);
      const held = await until(
        'the fence is decided about by the new leader',
        async () => {
          const { status } = await fence();
          return status.epoch > 3 ? status : undefined;
        },
        60_000,
      );
      expect(held).toMatchObject({ incident: 4, timeline: { isolatedAt: LONG_AGO } });
    });
  });
});

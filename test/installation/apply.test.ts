import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAssets } from '../../src/testbed/control-plane/assets.ts';
import { NAMESPACE } from '../../src/manifests/access.ts';
import { MANIFEST_FILES } from '../../src/manifests/installation.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { GROUP, VERSION } from '../../src/ports/resources.ts';
import { Daemon } from '../scenarios/daemon.ts';
import { until } from '../scenarios/waiting.ts';
import { CONTROLLER_USER } from '../scenarios/witness.ts';
import { definitionsOfOthers } from '../shipped.ts';
import { Cluster, kubectlMinor, overlaysFor } from './cluster.ts';
import { refusalsIn } from './rights.ts';

/** Older ones validate by OpenAPI v2 in protobuf, which the embedded server does not have. */
const OLDEST_KUBECTL = 30;
const ASSETS = findAssets(process.env);
const hasKubectl = kubectlMinor() >= OLDEST_KUBECTL;
const hasAssets = ASSETS !== undefined;
const FENCED_WITHIN_MS = 90_000;

const FAILED_NODE = `
apiVersion: v1
kind: Node
metadata: {name: dead}
status:
  nodeInfo: {kubeletVersion: v1.20.0, bootID: boot-1, systemUUID: uuid-1, osImage: Debian, kernelVersion: "6.1", containerRuntimeVersion: sim, machineID: "", kubeProxyVersion: "", operatingSystem: linux, architecture: amd64}
  conditions: [{type: Ready, status: Unknown, reason: NodeStatusUnknown, message: Kubelet stopped posting node status., lastTransitionTime: "2026-01-01T00:00:00Z", lastHeartbeatTime: "2026-01-01T00:00:00Z"}]
`;

const LEVEL_KNOWN_MS = 20_000;
const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io/v1';

async function isServed(cluster: Cluster, groupVersion: string): Promise<boolean> {
  return (await cluster.must('api-versions')).split('\n').includes(groupVersion);
}

/** The Lease and the stops are told from everything else of the controller, whatever it asks for. */
async function ownLevels(cluster: Cluster): Promise<(string | undefined)[]> {
  const kubeconfig = await cluster.controllerKubeconfig();
  const names = ['nodefence-leader', 'nodefence'];
  const uids = await Promise.all(names.map((name) => cluster.must(`get flowschema ${name} -o jsonpath={.metadata.uid}`)));
  const schemaOf = async (path: string): Promise<string | undefined> => {
    const { err } = await cluster.kubectl(`get --raw ${path} -v=8 --kubeconfig ${kubeconfig}`);
    return names[uids.indexOf(/X-Kubernetes-Pf-Flowschema-Uid: ([\w-]+)/i.exec(err)?.[1] ?? '')];
  };
  const lease = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/nodefence-controller`;
  await until('the server knows the level', async () => ((await schemaOf(lease)) === 'nodefence-leader' ? true : undefined), LEVEL_KNOWN_MS);
  const stops = `/apis/${GROUP}/${VERSION}/nodefencestops`;
  return Promise.all([stops, '/api/v1/nodes', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', '/version'].map(schemaOf));
}

interface Stored extends KubeObject {
  rules?: object[];
  status?: { hold?: { reason?: string } };
  spec?: { replicas?: number; template?: { spec: { containers: { args: string[]; securityContext?: object }[]; tolerations: object[] } } };
}

interface Server {
  isThere: boolean;
  needs: string;
  assets?: string;
}

const SERVERS: Readonly<Record<string, Server>> = {
  'the embedded API server': { isThere: hasKubectl, needs: `kubectl 1.${OLDEST_KUBECTL}` },
  'a real API server': {
    isThere: hasKubectl && hasAssets,
    needs: `kubectl 1.${OLDEST_KUBECTL} and a real control plane`,
    ...(ASSETS === undefined ? {} : { assets: ASSETS }),
  },
};

describe.for(Object.entries(SERVERS))('%s', ([, server]) => {
  describe.runIf(server.isThere)(`config/ applied by kubectl (needs ${server.needs})`, { timeout: 150_000 }, () => {
    const cluster = new Cluster();
    const daemons: Daemon[] = [];
    const overlays = overlaysFor(server.assets);

    const get = async (what: string): Promise<Stored> => JSON.parse(await cluster.must(`get ${what} -o json`)) as Stored;
    const words = (said: string): string[] => said.trim().split('\n');
    const applied = async (folder: string): Promise<object> => {
      const { code, out, err } = await cluster.kubectl(`apply -k ${folder}`);
      return { code, err, ends: out === '' ? [] : words(out).map((line) => line.split(' ')[1]) };
    };
    /** kubectl replaces the selector of a policy/v1 budget in every apply, and says that it did. */
    const changesOf = async (overlay: string): Promise<string[]> =>
      words(await cluster.must(`apply -k ${overlays}/${overlay}`)).filter(
        (line) => !line.endsWith(' unchanged') && !line.startsWith('poddisruptionbudget'),
      );

    beforeAll(async () => {
      await cluster.start(server.assets);
    }, 200_000);

    afterAll(async () => {
      await Promise.all(daemons.map((daemon) => daemon.kill()));
      await cluster.end();
    });

    it('installs everything with one command, and a second one changes nothing', async () => {
      const created = words(await cluster.must(`apply -k ${overlays}/observe`));
      expect(created.filter((line) => !line.endsWith(' created'))).toEqual([]);
      expect(created.length).toBeGreaterThanOrEqual(13);
      expect(await changesOf('observe')).toEqual([]);
    });

    it('grants exactly the rights that the drill and the scenarios run under', async () => {
      const roles = MANIFEST_FILES.flatMap(({ objects }) => objects as Stored[]).filter(({ rules }) => rules !== undefined);
      expect(roles.length).toBeGreaterThanOrEqual(3);
      for (const { kind, metadata, rules } of roles) {
        const place = metadata.namespace === undefined ? '' : ` -n ${metadata.namespace}`;
        expect((await get(`${kind ?? ''} ${metadata.name}${place}`)).rules, metadata.name).toEqual(rules);
      }
    });

    it('lets two replicas observe, and one switch turns them to enforce', async () => {
      const find = (): Promise<Stored> => get('deployment nodefence-controller -n nodefence-system');
      const observing = await find();
      expect(observing.spec?.replicas).toBe(2);
      expect(observing.spec?.template?.spec.containers[0]?.args).toEqual(['controller', '--mode', 'observe']);
      expect(await changesOf('enforce')).toEqual(['deployment.apps/nodefence-controller configured']);
      expect((await find()).spec?.template?.spec.containers[0]?.args).toEqual(['controller', '--mode', 'enforce']);
      await cluster.must(`apply -k ${overlays}/observe`);
    });

    it.each(['templates', 'samples'])('accepts every one of the %s', async (folder) => {
      const created = words(await cluster.must(`apply -f config/${folder}`));
      expect(created.filter((line) => !/^(configmap|secret)\/\S+ created$/.test(line))).toEqual([]);
      expect(created.length).toBeGreaterThan(5);
      await cluster.must(`delete -f config/${folder}`);
    });

    it('lets the controller run under exactly those rights: two replicas are ready, one leads, a failed node gets its NodeFence', async () => {
      const kubeconfig = await cluster.controllerKubeconfig();
      const replica = (): Daemon => new Daemon(kubeconfig, ['--mode', 'observe']);
      daemons.push(replica(), replica());
      for (const daemon of daemons) await daemon.says('starting', 60_000);
      for (const daemon of daemons) await daemon.isReadyz(200, 60_000);
      await cluster.must('create -f -', FAILED_NODE);
      const fence = { method: 'GET', path: `/apis/${GROUP}/${VERSION}/nodefences/node-fence-dead`, deadlineMs: 10_000 } as const;
      const transport = cluster.transport();
      try {
        await until(
          'the NodeFence of the failed node is held',
          async () => (((await transport.request(fence)).body as Stored).status?.hold?.reason === 'observe' ? true : undefined),
          FENCED_WITHIN_MS,
        );
      } finally {
        transport.close();
      }
      const held = await cluster.must('get nodefence node-fence-dead -o jsonpath={.status.state},{.status.hold.reason}');
      expect(held).toBe('new,observe');
      expect(await cluster.must('get lease nodefence-controller -n nodefence-system -o jsonpath={.spec.holderIdentity}')).not.toBe('');
      expect(daemons.map(({ ended }) => ended)).toEqual([undefined, undefined]);
      for (const daemon of daemons) daemon.signal('SIGTERM');
      expect(await Promise.all(daemons.map((daemon) => daemon.exit()))).toEqual([0, 0]);
    });

    it('takes config/flow-control, which puts the controller on a level of its own; an older server says that it has no such kind', async () => {
      const hasLevels = await isServed(cluster, FLOW_CONTROL);
      const [created, unchanged] = ['created', 'unchanged'].map((word) => ({ code: 0, ends: [word, word, word], err: expect.any(String) as string }));
      const refused = { code: 1, ends: [], err: expect.stringContaining('no matches for kind "FlowSchema"') as string };
      expect(await applied('config/flow-control')).toEqual(hasLevels ? created : refused);
      expect(await applied('config/flow-control')).toEqual(hasLevels ? unchanged : refused);
      // The embedded server has no queues.
      const hasQueues = hasLevels && server.assets !== undefined;
      const levels = hasQueues ? await ownLevels(cluster) : [];
      expect(levels).toEqual(hasQueues ? ['nodefence-leader', 'nodefence', 'nodefence', 'nodefence'] : []);
    });

    it.each([
      ['network-policies-egress', 5],
      ['metrics', 4],
    ])('takes config/%s, and a second time changes nothing', async (folder, count) => {
      const ends = (word: string): object => ({ code: 0, ends: Array.from({ length: count }, () => word), err: expect.any(String) as string });
      expect(await applied(`config/${folder}`)).toEqual(ends('created'));
      expect(await applied(`config/${folder}`)).toEqual(ends('unchanged'));
    });

    it('creates the definitions of Machines, and leaves those of an MCM as they are', async () => {
      const foreign = definitionsOfOthers('machine-crd').find(({ metadata }) => metadata.name === 'machines.machine.sapcloud.io');
      await cluster.must('create -f -', JSON.stringify({ ...foreign, metadata: { ...foreign?.metadata, labels: { of: 'mcm' } } }));
      const { code, out, err } = await cluster.kubectl('create -k config/machine-crd');
      expect(code).toBe(1);
      expect(err).toContain('"machines.machine.sapcloud.io" already exists');
      expect(words(out)).toHaveLength(2);
      const standing = await get('customresourcedefinition machines.machine.sapcloud.io');
      expect(standing.metadata.labels).toEqual({ of: 'mcm' });
      const again = await cluster.kubectl('create -k config/machine-crd');
      expect({ code: again.code, out: again.out }).toEqual({ code: 1, out: '' });
      const rights = words(await cluster.must('apply -k config/preservation-own'));
      expect(rights.filter((line) => !line.endsWith(' created'))).toEqual([]);
      expect(rights).toContain('clusterrole.rbac.authorization.k8s.io/nodefence-machines-own created');
    });

    it('refused the controller nothing, and saw it write nothing but its own records', () => {
      const trace = cluster.trace();
      expect(refusalsIn(trace)).toEqual([]);
      const writes = trace.flatMap((event) =>
        event.kind === 'api' && event.user === CONTROLLER_USER && ['create', 'update', 'patch', 'delete'].includes(event.verb)
          ? [event.resource]
          : [],
      );
      expect(
        [...new Set(writes)].filter((resource) => !/^(leases|events|nodefences|nodefencereports|selfsubjectrulesreviews)(\.|$)/.test(resource)),
      ).toEqual([]);
      expect(writes).toContain('nodefences.ha.k8s.io');
    });
  });
});

// The DaemonSet as kubectl renders and applies it: each duty that is switched off takes its privileges with it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { findAssets, minorOf } from '../../src/testbed/control-plane/assets.ts';
import { Cluster, KUBECTL, kubectlMinor } from '../installation/cluster.ts';

interface Container {
  env: { name: string; value?: string }[];
  ports?: { containerPort: number; protocol?: string }[];
  args: string[];
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
  securityContext: Record<string, unknown>;
  resources: { limits: { memory: string } };
}
interface Pod {
  hostNetwork?: boolean;
  hostPID?: boolean;
  automountServiceAccountToken?: boolean;
  terminationGracePeriodSeconds: number;
  tolerations: object[];
  priorityClassName: string;
  containers: [Container];
  volumes: { name: string; hostPath?: { path: string }; projected?: object }[];
}
interface Rendered {
  kind: string;
  metadata: { name: string; namespace?: string };
  spec: { template: { spec: Pod; metadata?: object } };
}

const CONFIG = join(import.meta.dirname, '..', '..', 'config');
const OLDEST_KUBECTL = 30;
const hasKubectl = kubectlMinor() >= OLDEST_KUBECTL;
const ASSETS = findAssets(process.env);
/** ValidatingAdmissionPolicy is v1 from here on. */
const GUARDED_SINCE = 30;

function rendered(folder: string): Rendered[] {
  const { status, stdout, stderr } = spawnSync(KUBECTL, ['kustomize', folder], { encoding: 'utf8', timeout: 60_000 });
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Rendered);
}

function podOf(folder: string): Pod {
  const found = rendered(folder).find(({ kind }) => kind === 'DaemonSet');
  if (found === undefined) throw new Error(`${folder} renders no DaemonSet`);
  return found.spec.template.spec;
}

function hostPaths({ volumes }: Pod): string[] {
  return volumes.flatMap(({ hostPath }) => hostPath?.path ?? []).sort();
}

const OWN_FOLDERS = ['/run/nodefence', '/var/lib/nodefence'];
const UNPRIVILEGED = {
  runAsUser: 0,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};
const PRIVILEGED = { privileged: true, readOnlyRootFilesystem: true, runAsUser: 0 };
const OF_SELF_FENCE = ['/run/containerd', '/run/crio', '/sys/fs/cgroup'];

describe.runIf(hasKubectl)(`the DaemonSet of the node daemon as kubectl renders it (needs kubectl 1.${OLDEST_KUBECTL})`, () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'node-daemonset-'));
    const at = (name: string): string => relative(folder, join(CONFIG, name));
    // As the page says for whoever wants other duties than the folders that ship.
    writeFileSync(
      join(folder, 'kustomization.yaml'),
      JSON.stringify({ resources: [at('node-daemonset')], components: [at('node-daemonset-parts/self-fence')] }),
    );
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each<[string, () => string, { paths: string[]; security: object; isOnHost: boolean; flags: Record<string, string> }]>([
    [
      'heartbeat and attestation',
      () => join(CONFIG, 'node-daemonset'),
      { paths: OWN_FOLDERS, security: UNPRIVILEGED, isOnHost: false, flags: { WATCHDOG: 'none' } },
    ],
    [
      'with the watchdog',
      () => join(CONFIG, 'node-daemonset-watchdog'),
      { paths: ['/etc/systemd/system', ...OWN_FOLDERS], security: PRIVILEGED, isOnHost: false, flags: {} },
    ],
    [
      'with watchdog and self-fence',
      () => join(CONFIG, 'node-daemonset-self-fence'),
      { paths: ['/etc/systemd/system', ...OF_SELF_FENCE, ...OWN_FOLDERS], security: PRIVILEGED, isOnHost: true, flags: { SELF_FENCE: 'true' } },
    ],
    [
      'with self-fence alone',
      () => folder,
      { paths: [...OF_SELF_FENCE, ...OWN_FOLDERS], security: PRIVILEGED, isOnHost: true, flags: { SELF_FENCE: 'true', WATCHDOG: 'none' } },
    ],
  ])('has the privileges of its duties and no others: %s', (_what, place, { paths, security, isOnHost, flags }) => {
    const pod = podOf(place());
    const [container] = pod.containers;
    expect(hostPaths(pod)).toEqual(paths.toSorted());
    expect(container.securityContext).toEqual(security);
    expect([pod.hostPID ?? false, pod.hostNetwork ?? false]).toEqual([isOnHost, isOnHost]);
    const set = container.env.filter(({ value }) => value !== undefined).map(({ name, value }) => [name.replace('NODEFENCE_NODE_', ''), value]);
    expect(Object.fromEntries(set)).toEqual(flags);
    expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(pod.volumes.map(({ name }) => name).sort());
    // Only its own folders, and the processes of pods, are written to.
    const written = container.volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
    expect(written.filter((path) => !OWN_FOLDERS.includes(path))).toEqual(isOnHost ? ['/sys/fs/cgroup'] : []);
  });

  it('runs on every node, before the workload, with a token of its own pod, and ends cleanly', () => {
    const pod = podOf(join(CONFIG, 'node-daemonset-self-fence'));
    expect(pod).toMatchObject({
      priorityClassName: 'system-node-critical',
      tolerations: [{ operator: 'Exists' }],
      automountServiceAccountToken: false,
    });
    // 25 s for telling the API server that it is disarmed, and what is under way.
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(30);
    expect(pod.volumes.find(({ name }) => name === 'token')?.projected).toMatchObject({
      sources: expect.arrayContaining([{ serviceAccountToken: { path: 'token', expirationSeconds: 3_600 } }]) as object[],
    });
    expect(pod.containers[0].env.filter(({ value }) => value === undefined).map(({ name }) => name)).toEqual([
      'NODEFENCE_NODE_NAME',
      'NODEFENCE_NODE_FENCE_NAMESPACE',
    ]);
  });

  it.each(['observe', 'enforce'])('lets the controllers of mode %s hear the daemons', (mode) => {
    const objects = rendered(join(CONFIG, `${mode}-with-node-daemons`));
    const [container] = objects.find(({ kind }) => kind === 'Deployment')?.spec.template.spec.containers ?? [];
    expect(container?.args).toEqual(['controller', '--mode', mode, '--node-daemons']);
    expect(container?.ports).toContainEqual({ name: 'node-daemons', containerPort: 7_411, protocol: 'UDP' });
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toContain('Role nodefence-node-daemon-controller');
    expect(objects.length).toBe(rendered(join(CONFIG, mode)).length + 2);
  });
});

const SERVERS = [
  { name: 'the embedded API server', isThere: hasKubectl, needs: `kubectl 1.${OLDEST_KUBECTL}`, assets: undefined },
  {
    name: 'a real API server',
    isThere: hasKubectl && ASSETS !== undefined && minorOf(ASSETS) >= GUARDED_SINCE,
    needs: `kubectl 1.${OLDEST_KUBECTL} and a real control plane`,
    assets: ASSETS,
  },
] as const;

describe.for(SERVERS)('$name', ({ isThere, needs, assets }) => {
  describe.runIf(isThere)(`takes the DaemonSet as the page installs it (needs ${needs})`, { timeout: 120_000 }, () => {
    const cluster = new Cluster();
    beforeAll(async () => {
      await cluster.start(assets);
      await cluster.must('apply -k config/enforce-with-node-daemons');
    }, 200_000);
    afterAll(() => cluster.end());

    /** The embedded one judges no CEL, and so has no admission policies. */
    const applied = (name: string): Promise<string> => {
      if (assets !== undefined) return cluster.must(`apply --validate=strict -k config/${name}`);
      const objects = rendered(join(CONFIG, name)).filter(({ kind }) => !kind.startsWith('ValidatingAdmission'));
      return cluster.must('apply -f -', objects.map((object) => JSON.stringify(object)).join('\n'));
    };

    it.each(['node-daemonset', 'node-daemonset-watchdog', 'node-daemonset-self-fence'])(
      'config/%s, and a second time without a change',
      async (name) => {
        const said = await applied(name);
        expect(said).toContain('daemonset.apps/nodefence-node');
        const again = await applied(name);
        expect(again.split('\n').filter((line) => line !== '' && !line.endsWith(' unchanged'))).toEqual([]);
        // What kubectl sends is not changed by defaults that it does not know: the same privileges stand in the cluster.
        const stored = JSON.parse(await cluster.must('get daemonset nodefence-node -n nodefence-system -o json')) as Rendered;
        const wanted = podOf(join(CONFIG, name));
        expect(hostPaths(stored.spec.template.spec)).toEqual(hostPaths(wanted));
        expect(stored.spec.template.spec.containers[0].securityContext).toEqual(wanted.containers[0].securityContext);
        expect([stored.spec.template.spec.hostPID ?? false, stored.spec.template.spec.hostNetwork ?? false]).toEqual([
          wanted.hostPID ?? false,
          wanted.hostNetwork ?? false,
        ]);
      },
    );

    it.runIf(assets !== undefined)('breaks the Pod Security level baseline by its own folders only, without duties', async () => {
      await cluster.must('create namespace guarded');
      await cluster.must('label namespace guarded pod-security.kubernetes.io/enforce=baseline');
      await cluster.must('-n guarded create serviceaccount nodefence-node');
      const refusal = async (name: string): Promise<string> => {
        const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'daemon', namespace: 'guarded' }, spec: podOf(join(CONFIG, name)) };
        return (await cluster.kubectl('create --dry-run=server -f -', JSON.stringify(pod))).err;
      };
      const plain = await refusal('node-daemonset');
      expect(plain).toContain('violates PodSecurity "baseline:latest": hostPath volumes (volumes "run", "state")');
      expect(await refusal('node-daemonset-watchdog')).toContain('privileged (container "node" must not set securityContext.privileged=true)');
      expect(await refusal('node-daemonset-self-fence')).toContain('host namespaces (hostNetwork=true, hostPID=true)');
    });
  });
});

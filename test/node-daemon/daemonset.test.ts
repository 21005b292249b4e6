// The DaemonSet as kubectl renders and applies it: each duty that is switched off takes its privileges with it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { findAssets, minorOf } from '../../src/testbed/control-plane/assets.ts';
import { SHORT_LIVED } from '../../src/testbed/shipped/kubectl.ts';
import { Cluster, KUBECTL, kubectlMinor } from '../installation/cluster.ts';

interface Container {
  env: { name: string; value?: string }[];
  ports?: { containerPort: number; protocol?: string }[];
  args: string[];
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
  securityContext: Record<string, unknown>;
  terminationMessagePath?: string;
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
  volumes: { name: string; hostPath?: { path: string; type?: string }; projected?: object }[];
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

const known = new Map<string, readonly Rendered[]>();

/** A folder is the same all along, and kubectl is started once for it. */
function rendered(place: string): readonly Rendered[] {
  const found = known.get(place) ?? renderedAnew(place);
  known.set(place, found);
  return found;
}

function renderedAnew(place: string): readonly Rendered[] {
  const { status, stdout, stderr } = spawnSync(KUBECTL, ['kustomize', place], {
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, ...SHORT_LIVED },
  });
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Rendered);
}

function podIn(objects: readonly Rendered[], where: string): Pod {
  const found = objects.find(({ kind }) => kind === 'DaemonSet');
  if (found === undefined) throw new Error(`${where} renders no DaemonSet`);
  return found.spec.template.spec;
}

function podOf(place: string): Pod {
  return podIn(rendered(place), place);
}

function hostPaths({ volumes }: Pod): string[] {
  return volumes.flatMap(({ hostPath }) => hostPath?.path ?? []).sort();
}

function flagsOf({ env }: Container): Record<string, string> {
  return Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name.replace('NODEFENCE_NODE_', ''), value]])));
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
const BY_SYSTEMD = ['/run/dbus', '/run/systemd/system'];
/** Outside the policies of AppArmor and SELinux for containers, and without a single capability all the same. */
const ON_THE_BUS = { appArmorProfile: { type: 'Unconfined' }, seLinuxOptions: { type: 'spc_t' } };
const PARTS = [
  'watchdog',
  'self-fence',
  'soft-fence',
  'unfence',
  'storage-lease-device',
  'storage-lease-file',
  'conditions',
  'host-files',
  'file-systems',
  'machine-id',
];
const OWN_CHOICES = [...PARTS.map((part) => [part]), ['watchdog', 'self-fence', 'soft-fence', 'unfence', 'storage-lease-device', 'conditions']];

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'node-daemonset-'));
  const at = (name: string): string => relative(folder, join(CONFIG, name));
  // As the page says for whoever wants other duties than the folders that ship.
  for (const parts of OWN_CHOICES) {
    mkdirSync(join(folder, parts.join('+')));
    writeFileSync(
      join(folder, parts.join('+'), 'kustomization.yaml'),
      JSON.stringify({ resources: [`../${at('node-daemonset')}`], components: parts.map((part) => `../${at(`node-daemonset-parts/${part}`)}`) }),
    );
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.runIf(hasKubectl)(`the DaemonSet of the node daemon as kubectl renders it (needs kubectl 1.${OLDEST_KUBECTL})`, () => {
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
      () => join(folder, 'self-fence'),
      { paths: [...OF_SELF_FENCE, ...OWN_FOLDERS], security: PRIVILEGED, isOnHost: true, flags: { SELF_FENCE: 'true', WATCHDOG: 'none' } },
    ],
  ])('has the privileges of its duties and no others: %s', (_what, place, { paths, security, isOnHost, flags }) => {
    const pod = podOf(place());
    const [container] = pod.containers;
    expect(hostPaths(pod)).toEqual(paths.toSorted());
    expect(container.securityContext).toEqual(security);
    expect([pod.hostPID ?? false, pod.hostNetwork ?? false]).toEqual([isOnHost, isOnHost]);
    expect(flagsOf(container)).toEqual({ CONFIG: '/etc/nodefence/nodes', ...flags });
    expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(pod.volumes.map(({ name }) => name).sort());
    // Only its own folders, and the processes of pods, are written to.
    const written = container.volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
    expect(written.filter((path) => !OWN_FOLDERS.includes(path))).toEqual(isOnHost ? ['/sys/fs/cgroup'] : []);
  });

  it.each<[string, { paths?: string[]; type?: string; written?: string[]; security?: object; flags?: Record<string, string>; memory?: string }]>([
    ['soft-fence', { paths: BY_SYSTEMD, security: { ...UNPRIVILEGED, ...ON_THE_BUS }, flags: { SOFT_FENCE: 'true' } }],
    ['unfence', { paths: ['/dev'], written: ['/dev'], security: PRIVILEGED }],
    [
      'storage-lease-device',
      {
        paths: ['/dev'],
        written: ['/dev'],
        security: PRIVILEGED,
        flags: { STORAGE_LEASE: '/dev/mapper/nodefence-lease', STORAGE_LEASE_CLUSTER: 'nodefence' },
        memory: '220Mi',
      },
    ],
    [
      'storage-lease-file',
      {
        paths: ['/mnt/nodefence-lease'],
        written: ['/mnt/nodefence-lease'],
        flags: { STORAGE_LEASE: '/mnt/nodefence-lease/slots', STORAGE_LEASE_CLUSTER: 'nodefence' },
        memory: '220Mi',
      },
    ],
    ['conditions', { flags: { CONDITIONS: 'true' } }],
    ['host-files', { paths: ['/'], flags: { HOST_ROOT: '/host' } }],
    ['file-systems', { paths: ['/'], flags: { HOST_ROOT: '/host', VERIFY_FILE_SYSTEMS: 'true' } }],
    ['machine-id', { paths: ['/etc/machine-id'], type: 'File' }],
  ])('part %s adds its own privileges to a daemon without duties, and no others', (part, { paths = [], written = [], ...its }) => {
    const objects = rendered(join(folder, part));
    expect(objects.some(({ metadata }) => metadata.name === 'nodefence-node-conditions')).toBe(part === 'conditions');
    const pod = podIn(objects, part);
    const [container] = pod.containers;
    expect(hostPaths(pod)).toEqual([...paths, ...OWN_FOLDERS].sort());
    expect(container.securityContext).toEqual(its.security ?? UNPRIVILEGED);
    expect([pod.hostPID ?? false, pod.hostNetwork ?? false]).toEqual([false, false]);
    expect(flagsOf(container)).toEqual({ WATCHDOG: 'none', CONFIG: '/etc/nodefence/nodes', ...its.flags });
    expect(container.resources.limits.memory).toBe(its.memory ?? '160Mi');
    const open = container.volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
    expect(open.filter((path) => !OWN_FOLDERS.includes(path))).toEqual(written);
    // What a node does not have is not made up there.
    const found = pod.volumes.filter(({ hostPath }) => hostPath !== undefined && paths.includes(hostPath.path));
    expect(found.map(({ hostPath }) => hostPath?.type)).toEqual(paths.map(() => its.type ?? 'Directory'));
    // A runtime would make the file of last words in the host's own /dev.
    expect(container.terminationMessagePath).toBe(paths.includes('/dev') ? '/termination-log' : undefined);
  });

  it('part conditions brings the right to write them', () => {
    const added = rendered(join(folder, 'conditions')).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const plain = rendered(join(CONFIG, 'node-daemonset')).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(added.filter((one) => !plain.includes(one)).sort()).toEqual([
      'ClusterRole nodefence-node-conditions',
      'ClusterRoleBinding nodefence-node-conditions',
      'ValidatingAdmissionPolicy nodefence-node-conditions',
      'ValidatingAdmissionPolicyBinding nodefence-node-conditions',
    ]);
  });

  it('parts add up: two that show /dev show it once', () => {
    const pod = podOf(join(folder, OWN_CHOICES.at(-1)?.join('+') ?? ''));
    expect(hostPaths(pod)).toEqual([...OWN_FOLDERS, ...OF_SELF_FENCE, ...BY_SYSTEMD, '/dev', '/etc/systemd/system'].sort());
    const [container] = pod.containers;
    expect(container.securityContext).toEqual({ ...PRIVILEGED, ...ON_THE_BUS });
    expect(flagsOf(container)).toMatchObject({ SELF_FENCE: 'true', SOFT_FENCE: 'true', CONDITIONS: 'true' });
    expect(flagsOf(container)['WATCHDOG']).toBeUndefined();
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
    const applied = (name: string): Promise<string> => appliedFrom(join(CONFIG, name));
    const appliedFrom = (place: string): Promise<string> => {
      if (assets !== undefined) return cluster.must(`apply --validate=strict -k ${place}`);
      const objects = rendered(place).filter(({ kind }) => !kind.startsWith('ValidatingAdmission'));
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

    it.each(PARTS)('a folder of one’s own with part %s, as the page writes it', async (part) => {
      const own = join(folder, part);
      await appliedFrom(own);
      const stored = JSON.parse(await cluster.must('get daemonset nodefence-node -n nodefence-system -o json')) as Rendered;
      const wanted = podOf(own);
      expect(hostPaths(stored.spec.template.spec)).toEqual(hostPaths(wanted));
      expect(stored.spec.template.spec.containers[0].securityContext).toEqual(wanted.containers[0].securityContext);
      expect(flagsOf(stored.spec.template.spec.containers[0])).toEqual(flagsOf(wanted.containers[0]));
    });

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

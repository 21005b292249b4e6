import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CORDON_MARK, fenceName } from '../../src/domain/node-fence.ts';
import type { JournalEntry, NodeFenceStatus } from '../../src/domain/node-fence.ts';
import { DEFAULT_TIMING, EMPTY_PLAN } from '../../src/domain/plan.ts';
import { Daemon } from '../scenarios/daemon.ts';
import { Cluster, kubectlMinor, overlaysFor } from './cluster.ts';
import type { Said } from './cluster.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';

const MAIN = programPath('main');
const hasKubectl = kubectlMinor() >= 30;
const FINALIZER = 'nodefence.ha.k8s.io/fence';
const LONG_AGO = '2026-01-01T00:00:00Z';
const OFF = { method: 'off', agent: 'redfish', device: '192.0.2.1:443', plug: '', state: 'off' as const };

function offRun(result: JournalEntry['result']): JournalEntry {
  const place = { step: 'power-management' as const, level: 1, operation: 'off:off', method: 'off', agent: 'redfish', device: OFF.device, plug: '' };
  const counts = { attempt: 1, restart: 0, epoch: 1, deadlineMs: 18_000 };
  return {
    id: 'off-1',
    ...place,
    ...counts,
    action: 'off',
    runner: 'in-process',
    startedAt: LONG_AGO,
    finishedAt: LONG_AGO,
    ...(result !== undefined && { result }),
  };
}

/** A fence in each state, by the name of its node. */
const FENCES: Readonly<Record<string, Partial<NodeFenceStatus>>> = {
  new: { state: 'new', step: 'isolation' },
  isolated: { state: 'running', step: 'power-management', restore: { cordoned: true } },
  off: { state: 'running', step: 'power-management', journal: [offRun('succeeded')], restore: { cordoned: true, edges: [OFF] } },
  error: { state: 'error', step: 'power-management', journal: [offRun('timeout')], restore: { cordoned: true } },
  done: { state: 'done', step: 'recovery', restore: { cordoned: true } },
  final: { state: 'final', step: 'recovery', outcome: 'recovered' },
  deleting: { state: 'running', step: 'power-management', restore: { cordoned: true } },
};
const CORDONED = ['isolated', 'off', 'error', 'done', 'deleting'];

async function build(cluster: Cluster, overlays: string): Promise<void> {
  await cluster.must(`apply -k ${overlays}/observe`);
  const objects: unknown[] = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'medik8s-leases' } }];
  for (const node of Object.keys(FENCES)) {
    const isCordoned = CORDONED.includes(node);
    const annotations = isCordoned ? { [CORDON_MARK]: fenceName(node) } : {};
    const spec = isCordoned ? { unschedulable: true } : {};
    objects.push({ apiVersion: 'v1', kind: 'Node', metadata: { name: node, annotations }, spec });
    const metadata = { name: fenceName(node), finalizers: [FINALIZER] };
    objects.push({ apiVersion: 'ha.k8s.io/v1', kind: 'NodeFence', metadata, spec: { node } });
  }
  objects.push({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'theirs' }, spec: { unschedulable: true } });
  objects.push(leaseOf('node-off', 'nodefence'), leaseOf('node-new', 'node-maintenance'));
  await cluster.must('create -f -', objects.map((each) => JSON.stringify(each)).join('\n'));
  for (const [node, status] of Object.entries(FENCES)) {
    const counts = { level: 1, incident: 1, epoch: 1, retries: 0, restarts: 0 };
    const lists = { jobs: [], journal: [], evidence: [], timeline: {}, conditions: [], history: [] };
    const frozen = { nodeUID: `uid-${node}`, plan: { ...EMPTY_PLAN, timing: DEFAULT_TIMING } };
    const file = cluster.file(`status-${node}.json`, JSON.stringify({ status: { ...counts, ...lists, frozen, ...status } }));
    await cluster.must(`patch nodefence ${fenceName(node)} --subresource=status --type=merge --patch-file ${file}`);
  }
  const taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
  const tainted = {
    metadata: { annotations: { 'nodefence.ha.k8s.io/out-of-service-by': 'x' } },
    spec: { taints: [taint, { key: 'theirs', effect: 'NoSchedule' }] },
  };
  await cluster.must(`patch node done --type=merge --patch-file ${cluster.file('taint.json', JSON.stringify(tainted))}`);
  await cluster.must(`delete nodefence ${fenceName('deleting')} --wait=false`);
  await buildDaemons(cluster);
}

/** What node daemons and the controllers' side of them leave: one node is armed, the daemon of the other was stopped cleanly. */
async function buildDaemons(cluster: Cluster): Promise<void> {
  const namespace = 'nodefence-system';
  const make = (object: object): Promise<string> => cluster.must('create -f -', JSON.stringify(object));
  const watchdog = { state: 'armed', kind: 'hardware', action: 'reset', isPausable: false, timeoutMs: 10_000 };
  const selfFence = { grantMs: 5_000, isolationTimeoutMs: 40_000, podStopMaxMs: 30_000, resetTimeMs: 10_000 };
  for (const [node, said] of Object.entries({ armed: { watchdog, selfFence }, stopped: { watchdog: { ...watchdog, state: 'disarmed' } } })) {
    const attestation = JSON.stringify({ bootID: 'b', systemUUID: 'u', peers: [], ...said });
    const annotations = { 'nodefence.ha.k8s.io/attestation': attestation };
    await make({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: `nodefence-node-${node}`, namespace, annotations } });
  }
  await make({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'nodefence-controllers-exchange-key', namespace } });
  await make({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'nodefence-controllers', namespace } });
  const labels = { app: 'node' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'node', image: 'nodefence' }] } };
  await make({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'nodefence-node', namespace },
    spec: { selector: { matchLabels: labels }, template },
  });
}

function leaseOf(name: string, holderIdentity: string): unknown {
  const metadata = { name, namespace: 'medik8s-leases' };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: { holderIdentity } };
}

async function nodefence(cluster: Cluster, ...words: string[]): Promise<Said> {
  await cluster.must('version');
  const child = spawn(process.execPath, [MAIN, ...words, '--kubeconfig', join(cluster.folder, 'kubeconfig-operator')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ ...said, code: code ?? -1 }));
  });
}

interface Found {
  metadata: { name: string; annotations?: Record<string, string> };
  spec: { unschedulable?: boolean; taints?: { key: string }[]; holderIdentity?: string };
}

async function all(cluster: Cluster, kind: string): Promise<Found[]> {
  return (JSON.parse(await cluster.must(`get ${kind} -o json`)) as { items: Found[] }).items;
}

/** The whole of it, in order, on one server: ours, or a real one by its binaries in `assets`. */
export function uninstalls(server: string, isThere: boolean, assets?: string): void {
  describe.runIf(isThere && hasKubectl)(`nodefence uninstall on ${server}`, { timeout: 200_000 }, () => {
    describe('with a fence in each state', () => {
      const cluster = new Cluster();
      let daemon: Daemon | undefined;
      beforeAll(async () => {
        await cluster.start(assets);
        await build(cluster, overlaysFor(assets));
      }, 200_000);
      afterAll(async () => {
        await daemon?.kill();
        await cluster.end();
      });

      it('removes nothing while a fence is open that only a controller finishes, and says what is left of it', async () => {
        const { code, out } = await nodefence(cluster, 'uninstall', '--yes');
        expect(code).toBe(3);
        expect(out).toMatch(/OPEN: off: its fence is open: redfish at 192\.0\.2\.1:443 is OFF by this fence and stays off/u);
        expect(out).toMatch(/OPEN: error: .*what became of "switch off by redfish at 192\.0\.2\.1:443"/u);
        expect(out).not.toMatch(/OPEN: (?:new|isolated|done|final|deleting)/u);
        expect(await all(cluster, 'nodefences')).toHaveLength(7);
        expect(await all(cluster, 'nodefencestops')).toEqual([]);
        expect((await cluster.kubectl('get deployment nodefence-controller -n nodefence-system')).code).toBe(0);
      });

      it('removes nothing while node daemons run, whose nodes would take themselves down, and says which', async () => {
        const running = await nodefence(cluster, 'uninstall', '--abandon', '--yes');
        expect(running).toMatchObject({ code: 3 });
        expect(running.out).toContain(
          'HELD: DaemonSet nodefence-system/nodefence-node runs node daemons: kubectl -n nodefence-system delete daemonset',
        );
        expect(running.out).toContain(
          'HELD: node armed: its watchdog is armed, it takes itself down when no controller grants it to go on: stop its daemon',
        );
        expect(running.out).toContain('kubectl -n nodefence-system delete lease nodefence-node-armed');
        expect(running.out).not.toContain('node stopped');
        expect((await cluster.kubectl('get deployment nodefence-controller -n nodefence-system')).code).toBe(0);
        expect(await all(cluster, 'nodefencestops')).toEqual([]);
        await cluster.must('-n nodefence-system delete daemonset nodefence-node');
        await cluster.must('-n nodefence-system delete lease nodefence-node-armed');
      });

      it('asks a person, and removes nothing without an answer', async () => {
        expect(await nodefence(cluster, 'uninstall', '--abandon')).toMatchObject({ code: 2, err: expect.stringContaining('say --yes') as string });
        expect(await nodefence(cluster, 'uninstall', '--yes', '--timeout', '1.5')).toMatchObject({
          code: 2,
          err: expect.stringContaining('whole number of seconds from 1 to 3600') as string,
        });
        expect(await all(cluster, 'nodefencestops')).toEqual([]);
      });

      it('does not go on beside a controller that it cannot end, and stops that from acting', async () => {
        daemon = new Daemon(await cluster.controllerKubeconfig(), ['--mode', 'observe']);
        await daemon.says('leading', 60_000);
        const { code, out } = await nodefence(cluster, 'uninstall', '--abandon', '--yes', '--timeout', '5');
        expect(code).toBe(3);
        expect(out).toMatch(/HELD: leader .*end that controller/u);
        expect((await all(cluster, 'nodefencestops')).map(({ metadata }) => metadata.name)).toEqual(['nodefence-uninstall']);
        await daemon.kill();
      });

      it('with --keep-fences takes back what is ours on nodes, leases and finalizers, and keeps the records', async () => {
        const { code, out } = await nodefence(cluster, 'uninstall', '--abandon', '--keep-fences', '--yes');
        expect({ code, out }).toMatchObject({ code: 0 });
        expect(out).toMatch(
          /LEFT: off: redfish at 192\.0\.2\.1:443 is OFF by this fence and stays off: look at the machine, then switch it on there\./u,
        );
        const nodes = new Map((await all(cluster, 'nodes')).map((node) => [node.metadata.name, node]));
        for (const name of CORDONED) expect(nodes.get(name)?.spec.unschedulable ?? false, name).toBe(false);
        expect(nodes.get('theirs')?.spec.unschedulable).toBe(true);
        expect(
          [...nodes.values()].flatMap(({ metadata }) => Object.keys(metadata.annotations ?? {})).filter((key) => key.includes('nodefence')),
        ).toEqual([]);
        expect(nodes.get('done')?.spec.taints?.map(({ key }) => key)).toEqual(['theirs']);
        const leases = await all(cluster, 'leases -A');
        expect(leases.filter(({ spec, metadata }) => spec.holderIdentity === 'nodefence' || metadata.name.startsWith('nodefence'))).toEqual([]);
        expect(leases.map(({ metadata }) => metadata.name)).toContain('node-new');
        expect(out).toContain('kubectl delete -k config/node-daemon');
        const named = async (kind: string): Promise<string[]> =>
          (await all(cluster, `${kind} -n nodefence-system`)).map(({ metadata }) => metadata.name);
        expect([...(await named('secrets')), ...(await named('configmaps'))].filter((name) => name.startsWith('nodefence'))).toEqual([]);
        expect((await all(cluster, 'nodefences')).map(({ metadata }) => metadata.name)).not.toContain('node-fence-deleting');
        expect(await all(cluster, 'nodefences')).toHaveLength(6);
      });

      it('takes the kinds away, run again after that, and once more with nothing left to do', async () => {
        const first = await nodefence(cluster, 'uninstall', '--abandon', '--yes');
        expect(first).toMatchObject({ code: 0, out: expect.stringContaining('Kind nodefences.ha.k8s.io deleted') as string });
        expect(await cluster.must('get crd -o name')).not.toContain('ha.k8s.io');
        expect(await nodefence(cluster, 'uninstall', '--yes')).toMatchObject({ code: 0, out: expect.stringMatching(/^UNINSTALLED/mu) as string });
      });

      it('lets everything be installed again at once', async () => {
        const created = await cluster.must(`apply -k ${overlaysFor(assets)}/observe`);
        expect(created).toContain('nodefences.ha.k8s.io created');
      });
    });
  });
}

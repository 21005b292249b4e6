import { afterEach, describe, expect, it } from 'vitest';
import { LEASES, NODES } from '../../src/ports/resources.ts';
import { Daemon } from '../scenarios/daemon.ts';
import { until } from '../scenarios/waiting.ts';
import { PreservingCluster } from './preserving-cluster.ts';
import { refusalsIn } from './rights.ts';

const PRESERVE = 'node.machine.sapcloud.io/preserve';
const OWN = ['machine-crd', 'preservation-observe', 'preservation-own'];
const WITHIN_MS = 60_000;
const ended: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function cluster(nodes: readonly string[], folders: readonly string[]): Promise<PreservingCluster> {
  const started = await PreservingCluster.start(nodes, folders);
  ended.push(() => started.end());
  return started;
}

async function controller(there: PreservingCluster, flags: readonly string[]): Promise<Daemon> {
  const daemon = new Daemon(there.kubeconfig(), ['--mode', 'enforce', ...flags]);
  ended.push(() => daemon.kill());
  await daemon.says('leading', WITHIN_MS);
  return daemon;
}

async function modes(daemon: Daemon, wanted: readonly string[]): Promise<void> {
  const said = (): string[] => daemon.log.flatMap((line) => (line as { preservation?: string }).preservation ?? []);
  await until(
    `its modes are ${wanted.join(', ')}`,
    async () => (said().join() === wanted.join() ? true : undefined),
    WITHIN_MS,
    async () => said().join(),
  );
}

describe('preservation as it is shipped', { timeout: 240_000 }, () => {
  it('keeps a machine that a person asks for, in place of an MCM, with the shipped rights and no other; and gives way to an MCM', async () => {
    const there = await cluster(['n1'], OWN);
    await there.addMachine('m1', 'n1');
    const daemon = await controller(there, []);
    await modes(daemon, ['own']);
    const phase = async (): Promise<string | undefined> => (await there.machine('m1'))?.status?.currentStatus?.phase;
    await until('the Machine is Running', async () => ((await phase()) === 'Running' ? true : undefined), WITHIN_MS);

    const terminal = await there.terminal();
    const asked = await terminal.nodefence(['preserve', 'n1', 'now', '--for', '24h', '--reason', 'core dump']);
    expect(asked).toMatchObject({ code: 0, stderr: '' });
    expect(asked.stdout).toContain('Machine default/m1 (Node n1): Running');
    expect(asked.stdout).toContain(`✓ Node n1: annotated with ${PRESERVE}=now`);
    expect(asked.stdout).toContain('✓ Machine default/m1: its preserveExpiryTime is ');
    const node = async () => there.world.cluster.get(NODES, 'n1');
    const condition = await until(
      'the Node tells',
      async () => (await node())?.status.conditions?.find(({ type, status }) => type === 'Preserved' && status === 'True'),
      WITHIN_MS,
    );
    expect(condition.reason).toBe('Preserved by user.');
    expect((await node())?.metadata.annotations).toMatchObject({
      [PRESERVE]: 'now',
      'ha.k8s.io/preserve-reason': 'core dump',
      'nodefence.ha.k8s.io/preserve-requested-by': 'now by olga',
      'cluster-autoscaler.kubernetes.io/scale-down-disabled': 'true',
    });
    const untilMs = Date.parse((await there.machine('m1'))?.status?.currentStatus?.preserveExpiryTime ?? '');
    expect(Math.abs(untilMs - Date.now() - 86_400_000)).toBeLessThan(240_000);
    const status = await terminal.nodefence(['status']);
    expect(status).toMatchObject({ code: 0, stderr: '' });
    expect(status.stdout).toMatch(/m1 +n1 +worker1 +Running:Preserved +user, now +\S+ \S+ \(in 23h\d+m\)/u);

    const stopped = await terminal.nodefence(['preserve', 'machine/m1', 'stop']);
    expect(stopped).toMatchObject({ code: 0, stderr: '' });
    await until(
      'the preservation has ended',
      async () => ((await there.machine('m1'))?.status?.currentStatus?.preserveExpiryTime === undefined ? true : undefined),
      WITHIN_MS,
    );
    expect((await node())?.metadata.annotations?.[PRESERVE]).toBeUndefined();

    const renewTime = new Date().toISOString().replace('Z', '000Z');
    await there.world.cluster.create(LEASES, {
      metadata: { name: 'machine-controller', namespace: 'default' },
      spec: { holderIdentity: 'mcm', renewTime },
    });
    await modes(daemon, ['own', 'observe']);
    expect(refusalsIn(there.world.witness.trace)).toEqual([]);
    daemon.signal('SIGTERM');
    expect(await daemon.exit()).toBe(0);
  });

  it('finds the Machines in another cluster, and writes there what belongs there', async () => {
    const machines = await cluster([], OWN);
    const there = await cluster(['n1'], ['preservation-observe', 'preservation-own']);
    await machines.addMachine('m1', 'n1');
    const elsewhere = ['--machines-kubeconfig', machines.kubeconfig(), '--machines-namespace', 'default'];
    const daemon = await controller(there, elsewhere);
    await modes(daemon, ['own']);
    await until(
      'the Machine is Running by what its Node tells in the other cluster',
      async () => ((await machines.machine('m1'))?.status?.currentStatus?.phase === 'Running' ? true : undefined),
      WITHIN_MS,
    );
    await there.world.cluster.mergePatch(NODES, 'n1', { metadata: { annotations: { [PRESERVE]: 'now' } } });
    await until('it has its end', async () => (await machines.machine('m1'))?.status?.currentStatus?.preserveExpiryTime, WITHIN_MS);
    expect(refusalsIn([...machines.world.witness.trace, ...there.world.witness.trace])).toEqual([]);
    expect(await daemon.isReadyz(200)).toContain('machines');
  });

  it('is validated where the Machines are, and a cluster of Machines that is dead hides nothing else', async () => {
    const machines = await cluster([], OWN);
    const there = await cluster(['n1'], ['preservation-observe', 'preservation-own']);
    await machines.addMachine('m1', 'n1');
    await machines.addMachine('m2', 'n1');
    const terminal = await there.terminal();
    const elsewhere = ['--machines-kubeconfig', machines.kubeconfig(), '--machines-namespace', 'default'];
    const words = 'names the node of the newer';
    expect((await terminal.nodefence(['validate'])).stdout).not.toContain(words);
    expect((await terminal.nodefence(['validate', ...elsewhere])).stdout.replaceAll(/\s+/gu, ' ')).toContain(words);
    await machines.cutOff();
    const alone = await terminal.nodefence(['validate', ...elsewhere]);
    expect(alone.stderr).toBe('');
    expect(alone.stdout, 'its Nodes are checked all the same').toContain('n1');
    expect(alone.stdout.replaceAll(/\s+/gu, ' ')).toContain('does not answer as it must');
    const refused = await terminal.nodefence(['validate', '--machines-kubeconfig', machines.kubeconfig()]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--machines-kubeconfig requires --machines-namespace');
  });

  it('is off where there are no Machines, without a right of its own, and says so once', async () => {
    const there = await cluster(['n1'], []);
    const daemon = await controller(there, []);
    await modes(daemon, ['off']);
    const refused = await (await there.terminal()).nodefence(['preserve', 'n1', 'now']);
    expect(refused.code).toBe(1);
    expect(refused.stderr.replaceAll(/\s+/gu, ' ')).toContain(
      'preservation is off here (no Machines of machine.sapcloud.io/v1alpha1 are served here)',
    );
    expect(refusalsIn(there.world.witness.trace)).toEqual([]);
  });

  it('refuses to look for Machines in all namespaces of another cluster', async () => {
    const there = await cluster([], []);
    const daemon = new Daemon(there.kubeconfig(), ['--machines-kubeconfig', there.kubeconfig()]);
    ended.push(() => daemon.kill());
    expect(await daemon.exit()).toBe(1);
    expect(daemon.log[0]?.error).toContain('--machines-kubeconfig requires --machines-namespace');
  });
});

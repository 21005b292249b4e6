import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../../../runtime/system-clock.ts';
import { CriServer } from '../testing/cri-server.ts';
import { MachineTree } from '../testing/machine-tree.ts';
import { PodStopper } from './workload-stopper.ts';

const UID = '3f2504e0-4f89-11d3-9a0c-0305e82c3301';
const OTHER_UID = '9b2504e0-4f89-11d3-9a0c-0305e82c3301';
const SOCKET = '/run/containerd/containerd.sock';
const V2 = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'].find((path) => existsSync(join(path, 'cgroup.controllers')));
const FREEZER = '/sys/fs/cgroup/freezer';

let machine: MachineTree;
let children: ChildProcess[];
let made: string[];
let server: CriServer | undefined;
const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };

const stopper = (): PodStopper => new PodStopper({ root: machine.root, clock: new SystemClock(), log, criSockets: [SOCKET] });
const stop = (deadlineMs: number): Promise<string> => stopper().stop(deadlineMs, new AbortController().signal);

function canMake(parent: string | undefined): boolean {
  if (parent === undefined || !existsSync(parent)) return false;
  try {
    mkdirSync(join(parent, 'nodefence-probe'));
    rmdirSync(join(parent, 'nodefence-probe'));
    return true;
  } catch {
    return false;
  }
}

/** A process that ignores every signal it may; it runs when this returns. */
async function workload(cgroup?: string): Promise<ChildProcess> {
  const child = spawn('sh', ['-c', 'trap "" TERM HUP INT; echo up; while :; do sleep 1; done'], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  await new Promise((resolve) => child.stdout.once('data', resolve));
  if (cgroup !== undefined) writeFileSync(join(cgroup, 'cgroup.procs'), String(child.pid));
  return child;
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** A cgroup of the real kernel, seen under the tree. */
function realCgroups(parent: string): string {
  const path = join(parent, `nodefence-test-${process.pid}`);
  mkdirSync(path);
  made.push(path);
  mkdirSync(join(machine.root, 'sys/fs'), { recursive: true });
  symlinkSync(path, join(machine.root, 'sys/fs/cgroup'));
  return path;
}

function make(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}

function removeCgroup(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) if (entry.isDirectory()) removeCgroup(join(path, entry.name));
  rmdirSync(path);
}

async function runtime(onStop?: (id: string) => string | undefined): Promise<CriServer> {
  server = new CriServer(onStop);
  await server.listen(join(machine.root, SOCKET));
  return server;
}

beforeEach(() => {
  machine = new MachineTree();
  mkdirSync(join(machine.root, 'proc'));
  [children, made, server] = [[], [], undefined];
  for (const heard of Object.values(log)) heard.mockReset();
});
afterEach(async () => {
  server?.close();
  for (const child of children) child.kill('SIGKILL');
  await vi.waitFor(() => expect(children.filter((child) => !hasEnded(child))).toEqual([]));
  for (const path of made) await vi.waitFor(() => expect(() => removeCgroup(path)).not.toThrow());
  machine[Symbol.dispose]();
});

describe.runIf(canMake(V2))('with cgroups of version 2 (needs to make some)', () => {
  it('stops pods by their runtime first, and says so when their cgroups read empty', async () => {
    const pods = make(join(realCgroups(V2 ?? ''), 'kubepods.slice'));
    const child = await workload(make(join(pods, `kubepods-pod${UID.replaceAll('-', '_')}.slice/cri-1.scope`)));
    const cri = await runtime(() => void child.kill('SIGKILL'));
    cri.sandboxes = [{ id: 'sandbox-1', name: 'web', namespace: 'default', uid: UID }];
    expect(await stop(10_000)).toBe('stopped');
    expect([cri.stopped, child.signalCode, log.warn.mock.calls]).toEqual([['sandbox-1'], 'SIGKILL', []]);
  });

  it('asks each container to end before its pod is taken down, for as long as the pod has, and at most until force must begin', async () => {
    const child = await workload(make(join(realCgroups(V2 ?? ''), 'kubepods/pod1')));
    const cri = await runtime(() => void child.kill('SIGKILL'));
    cri.sandboxes = [{ id: 'sandbox-1', name: 'web', namespace: 'default', uid: UID }];
    cri.containers = [
      { id: 'short', sandboxID: 'sandbox-1', graceSeconds: 3 },
      { id: 'long', sandboxID: 'sandbox-1', graceSeconds: 600 },
      { id: 'unknown', sandboxID: 'sandbox-1' },
      { id: 'foreign', sandboxID: 'sandbox-2', graceSeconds: 3 },
    ];
    expect(await stop(9_000)).toBe('stopped');
    // Two thirds of nine seconds, and two for the runtime.
    expect(cri.calls.slice(0, 3).sort()).toEqual(['long 4', 'short 3', 'unknown 4']);
    expect(cri.calls.slice(3)).toEqual(['sandbox-1']);
  });

  it('kills what is left, in every cgroup of pods, wherever it lies', async () => {
    const pods = make(join(realCgroups(V2 ?? ''), 'kubelet.slice/kubelet-kubepods.slice'));
    const [a, b] = [await workload(make(join(pods, 'besteffort/pod1/c1'))), await workload(make(join(pods, 'pod2/c2/nested')))];
    expect(await stop(5_000)).toBe('stopped');
    await vi.waitFor(() => expect([a.signalCode, b.signalCode]).toEqual(['SIGKILL', 'SIGKILL']));
    expect(log.warn.mock.calls).toEqual([]);
  });

  it('is not held up by a runtime that hangs', async () => {
    const pods = make(join(realCgroups(V2 ?? ''), 'kubepods'));
    const child = await workload(make(join(pods, 'pod1')));
    (await runtime()).isHung = true;
    const startedAtMs = performance.now();
    expect(await stop(3_000)).toBe('stopped');
    expect(performance.now() - startedAtMs).toBeLessThan(3_000);
    expect(log.warn).toHaveBeenCalledWith('pods could not be stopped gently', { error: expect.stringContaining('ListPodSandbox') as string });
    expect(hasEnded(child)).toBe(true);
  });

  it('kills a pod that its runtime cannot stop, and names it', async () => {
    const child = await workload(make(join(realCgroups(V2 ?? ''), 'kubepods/pod1')));
    const cri = await runtime(() => 'the network plugin does not answer');
    cri.sandboxes = [{ id: 'sandbox-1', name: 'web', namespace: 'default', uid: UID }];
    expect(await stop(5_000)).toBe('stopped');
    expect(log.warn).toHaveBeenCalledWith('pods could not be stopped gently', {
      error: 'default/web: StopPodSandbox: status 2 the network plugin does not answer',
    });
    await vi.waitFor(() => expect(child.signalCode).toBe('SIGKILL'));
  });

  it('spares its own pod, and nothing else', async () => {
    const pods = make(join(realCgroups(V2 ?? ''), 'kubepods.slice'));
    const ownPod = join(pods, `kubepods-besteffort.slice/kubepods-besteffort-pod${UID.replaceAll('-', '_')}.slice`);
    const [own, sibling] = [make(join(ownPod, 'cri-own.scope')), await workload(make(join(ownPod, 'cri-pause.scope')))];
    const others = [
      await workload(make(join(pods, 'kubepods-besteffort.slice/kubepods-besteffort-pod2.slice/c'))),
      await workload(make(join(pods, 'pod3'))),
    ];
    const cri = await runtime();
    cri.sandboxes = [UID, OTHER_UID].map((uid, index) => ({ id: `sandbox-${index}`, name: 'pod', namespace: 'default', uid }));
    writeFileSync(join(own, 'cgroup.procs'), String(process.pid));
    try {
      expect(await stop(5_000)).toBe('stopped');
    } finally {
      writeFileSync(join(V2 ?? '', 'cgroup.procs'), String(process.pid));
    }
    await vi.waitFor(() => expect(others.map((child) => child.signalCode)).toEqual(['SIGKILL', 'SIGKILL']));
    expect([hasEnded(sibling), cri.stopped]).toEqual([false, ['sandbox-1']]);
  });

  it('says that nothing runs where nothing does, without a call', async () => {
    make(join(realCgroups(V2 ?? ''), 'kubepods/pod1'));
    const cri = await runtime();
    cri.sandboxes = [{ id: 'sandbox-1', name: 'web', namespace: 'default', uid: UID }];
    expect([await stop(2_000), cri.stopped]).toEqual(['stopped', []]);
  });
});

describe.runIf(canMake(FREEZER))('with cgroups of version 1 (needs to make some)', () => {
  it('kills process by process, also what is frozen', async () => {
    const pod = make(join(realCgroups(FREEZER), 'freezer/kubepods/pod1'));
    const child = await workload(pod);
    writeFileSync(join(pod, 'freezer.state'), 'FROZEN');
    expect(await stop(5_000)).toBe('stopped');
    await vi.waitFor(() => expect(child.signalCode).toBe('SIGKILL'));
  });
});

describe('with a tree of files', () => {
  const procs = (text: string): void => machine.write('sys/fs/cgroup/cpu/kubepods/pod1/cgroup.procs', text);

  it('says that something may still run when its time is over', async () => {
    const child = await workload();
    procs(`${child.pid ?? ''}\n`);
    const startedAtMs = performance.now();
    expect(await stop(700)).toBe('running');
    expect(performance.now() - startedAtMs).toBeLessThan(1_500);
    await vi.waitFor(() => expect(child.signalCode).toBe('SIGKILL'));
  });

  it('touches nothing where it cannot see every process', async () => {
    const child = await workload();
    procs(`0\n${child.pid ?? ''}\n`);
    expect(await stop(2_000)).toBe('running');
    expect(log.error).toHaveBeenCalledWith('the pods could not be stopped', { error: expect.stringContaining('hostPID') as string });
    expect(hasEnded(child)).toBe(false);
  });

  it('never kills init or itself', async () => {
    const killed = vi.spyOn(process, 'kill');
    procs(`${process.pid}\n`);
    machine.write('sys/fs/cgroup/cpu/kubepods/pod2/cgroup.procs', '1\n');
    expect(await stop(500)).toBe('running');
    expect(killed.mock.calls).toEqual([]);
    killed.mockRestore();
  });

  it('takes no absence of cgroups for proof', async () => {
    machine.write('sys/fs/cgroup/cpu/system.slice/cgroup.procs', '');
    expect(await stop(500)).toBe('running');
    expect(log.error).toHaveBeenCalledWith('the pods could not be stopped', { error: expect.stringContaining('no cgroup of pods') as string });
  });

  it('keeps its time though a file system hangs, and ends at once when it is told to', async () => {
    const fifo = join(machine.root, 'sys/fs/cgroup/cpu/kubepods/pod1/cgroup.procs');
    mkdirSync(dirname(fifo), { recursive: true });
    expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
    expect(await stop(300)).toBe('running');
    const aborted = new AbortController();
    setTimeout(() => aborted.abort(), 50);
    expect(await stopper().stop(60_000, aborted.signal)).toBe('running');
    closeSync(openSync(fifo, constants.O_RDWR));
    unlinkSync(fifo);
  });

  it('halts the kubelet, so that it starts nothing anew', async () => {
    const [kubelet, other] = [await workload(), await workload()];
    machine.write(`proc/${kubelet.pid ?? ''}/comm`, 'kubelet\n');
    machine.write(`proc/${other.pid ?? ''}/comm`, 'etcd\n');
    procs('');
    expect(await stop(1_000)).toBe('stopped');
    const stateOf = (child: ChildProcess): string | undefined => /\) (\w)/.exec(readFileSync(`/proc/${child.pid ?? ''}/stat`, 'utf8'))?.[1];
    expect([stateOf(kubelet), stateOf(other)]).toEqual(['T', 'S']);
  });
});

import { fenceName } from '../../domain/node-fence.ts';
import type { Evidence, JournalEntry, NodeFenceStatus } from '../../domain/node-fence.ts';
import { MACHINE_NODE_LABEL } from '../../ports/machines.ts';
import type { Machine } from '../../ports/machines.ts';
import type { Node } from '../../ports/objects.ts';
import type { ClusterSession } from './cluster-session.ts';
import type { Audience } from './drill-run.ts';
import { STORY } from '../faults/names.ts';
import type { Fault } from '../faults/names.ts';
import { shownPhase } from '../faults/preservation/kept-findings.ts';
import type { Replicas } from './replicas.ts';
import type { Watcher } from './watcher.ts';

const FRAME_MS = 100;
const LATER_SHOWN = 5;
/** As wide as the longest phase with its time. */
const MACHINE_WIDTH = 33;
/** What a node problem detector tells of. */
const AILMENTS: ReadonlySet<string> = new Set(['KernelDeadlock']);

interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
}

function paint(colours: boolean): Paint {
  const code =
    (start: number, end: number) =>
    (text: string): string =>
      colours ? `\u001b[${start}m${text}\u001b[${end}m` : text;
  return { bold: code(1, 22), dim: code(2, 22), good: code(32, 39), bad: code(31, 39), warn: code(33, 39) };
}

/** Draws the fence as it goes: a picture that is redrawn on a terminal, one line for each change elsewhere. Everything goes to stderr. */
export class Display implements Audience {
  readonly #out: NodeJS.WriteStream;
  readonly #live: boolean;
  readonly #ink: Paint;
  readonly #fault: Fault;
  #session: ClusterSession | undefined;
  #watcher: Watcher | undefined;
  #replicas: Replicas | undefined;
  readonly #later: string[] = [];
  #broken: { victims: readonly string[]; atMs: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #drawn = 0;
  #isClosed = false;
  readonly #told = new Set<string>();
  /** What each node's Machine was when it was last told. */
  readonly #machinesTold = new Map<string, string>();

  constructor(out: NodeJS.WriteStream, fault: Fault) {
    this.#out = out;
    this.#live = out.isTTY;
    this.#ink = paint(out.isTTY && process.env['NO_COLOR'] === undefined);
    this.#fault = fault;
  }

  says(line: string): void {
    this.#out.write(`${this.#ink.dim(`· ${line}`)}\n`);
  }

  opens(session: ClusterSession, watcher: Watcher, replicas: Replicas): void {
    this.#replicas = replicas;
    this.#session = session;
    this.#watcher = watcher;
    const path = session.kubeconfig('operator');
    this.#out.write(`${this.#ink.dim('· watch it from another terminal:')} kubectl --kubeconfig ${path} get nodes,pods,nodefences\n\n`);
    if (this.#live) this.#timer = setInterval(() => this.#draw(), FRAME_MS);
    else watcher.onChange(() => this.#tellChanges());
  }

  breaks(victims: readonly string[], atMs: number): void {
    this.#broken = { victims, atMs };
    if (!this.#live) this.#out.write(`${stamp(0)} ${victims.join(', ')}: ${STORY[this.#fault]}\n`);
  }

  tells(line: string): void {
    const at = this.#broken === undefined ? 0 : (this.#session?.now() ?? 0) - this.#broken.atMs;
    this.#later.push(`${stamp(at)} ${line}`);
    if (!this.#live) this.#out.write(`${stamp(at)} ${line}\n`);
  }

  closes(): void {
    this.#isClosed = true;
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#draw();
    this.#out.write('\n');
  }

  #draw(): void {
    const lines = this.#picture();
    const up = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A`;
    const width = this.#out.columns || 120;
    this.#out.write(up + lines.map((line) => `\u001b[2K${clipped(line, width)}\n`).join('') + '\u001b[0J');
    this.#drawn = lines.length;
  }

  #picture(): string[] {
    const [watcher, session, broken, ink] = [this.#watcher, this.#session, this.#broken, this.#ink];
    if (watcher === undefined || session === undefined) return [];
    const at = broken === undefined ? 0 : session.now() - broken.atMs;
    const head = broken === undefined ? 'all is well; a fault comes' : STORY[this.#fault];
    const lines = [`${ink.bold('nodefence drill')}  ${stamp(at)}  ${head}`, ''];
    for (const node of [...watcher.nodes.all()].sort(byName)) lines.push(this.#nodeLine(node, watcher));
    lines.push(`  ${this.#leaderLine(watcher)}`, ...this.#later.slice(-LATER_SHOWN).map((line) => ink.warn(`  ${line}`)));
    const fences = (broken?.victims ?? []).flatMap((node) => {
      const status = watcher.fences.get(fenceName(node))?.status;
      return status?.frozen === undefined ? [] : [{ node, status }];
    });
    if (broken === undefined || fences.length === 0) return [...lines, '', ink.dim('no fence yet')];
    const [only] = fences;
    if (only !== undefined && broken.victims.length === 1) return [...lines, '', ...this.#fenceLines(only.status, broken.atMs)];
    return [...lines, '', ...fences.flatMap(({ node, status }) => this.#shortLines(node, status, broken.atMs))];
  }

  /** Who leads, and since which change of leader. */
  #leaderLine(watcher: Watcher): string {
    const { holderIdentity = '', leaseTransitions = 0 } = watcher.leaderLease?.spec ?? {};
    const leader = holderIdentity === '' ? 'nobody' : (this.#replicas?.named(holderIdentity)?.name ?? '?');
    const others = (this.#replicas?.running ?? []).filter(({ name }) => name !== leader).map(({ name }) => name);
    return `${this.#ink.bold('leader')} ${leader} ${this.#ink.dim(`epoch ${leaseTransitions}; waiting: ${others.join(', ') || 'none'}`)}`;
  }

  #nodeLine(node: Node, watcher: Watcher): string {
    const ink = this.#ink;
    const ready = node.status.conditions?.find((condition) => condition.type === 'Ready')?.status ?? '?';
    const state = ready === 'True' ? ink.good('Ready   ') : ink.bad(ready === 'Unknown' ? 'Unknown ' : 'NotReady');
    const marks = [
      ...(node.spec.unschedulable === true ? ['cordoned'] : []),
      ...(node.status.conditions ?? []).filter(({ type, status }) => AILMENTS.has(type) && status === 'True').map(({ type }) => type),
      ...((node.spec.taints ?? []).some((taint) => taint.key.endsWith('/out-of-service')) ? ['out-of-service'] : []),
    ];
    const pods = [...watcher.pods.all()].filter((pod) => pod.spec.nodeName === node.metadata.name).sort(byName);
    const names = pods.map((pod) => {
      const label = pod.metadata.name + (pod.metadata.deletionTimestamp === undefined ? '' : '…');
      return pod.status?.phase === 'Running' && ready === 'True' ? ink.good(label) : ink.warn(label);
    });
    const machine = watcher.machines === undefined ? '' : this.#machineText(machineOn(watcher, node.metadata.name));
    return `  ${node.metadata.name.padEnd(12)} ${state}  ${machine}${names.join(' ') || ink.dim('no pods')}  ${ink.warn(marks.join(', '))}`;
  }

  /** In a column of its own: what its Machine is, and until when it is kept. */
  #machineText(machine: Machine | undefined): string {
    const words = describeMachine(machine).padEnd(MACHINE_WIDTH);
    const isKept = machine?.status?.currentStatus?.preserveExpiryTime !== undefined;
    if (isKept) return this.#ink.warn(words);
    return machine?.status?.currentStatus?.phase === 'Running' ? this.#ink.dim(words) : this.#ink.bad(words);
  }

  #fenceLines(status: NodeFenceStatus, faultAtMs: number): string[] {
    const ink = this.#ink;
    const state = status.state === 'final' ? ink.good(status.state) : status.state === 'error' ? ink.bad(status.state) : ink.warn(status.state);
    const lines = [`  ${ink.bold('fence')}  ${state}  step ${status.step}, retries ${status.retries}, restarts ${status.restarts}`];
    for (const entry of status.journal.slice(-14)) lines.push(this.#runLine(entry, faultAtMs));
    for (const item of status.evidence) lines.push(this.#proofLine(item));
    if (status.message !== undefined) lines.push(`  ${ink.dim(status.message)}`);
    return lines;
  }

  /** One of several fences: where it stands, its last run, and what it waits for. */
  #shortLines(node: string, status: NodeFenceStatus, faultAtMs: number): string[] {
    const ink = this.#ink;
    const state = status.state === 'final' ? ink.good(status.state) : status.state === 'error' ? ink.bad(status.state) : ink.warn(status.state);
    const proof = status.evidence.findLast((item) => item.voidedAt === undefined);
    const last = status.journal.at(-1);
    return [
      `  ${ink.bold(node.padEnd(12))} ${state}  ${status.outcome ?? `step ${status.step}`}  ${proof === undefined ? '' : `proof ${ink.good(proof.kind)}`}`,
      ...(last === undefined ? [] : [this.#runLine(last, faultAtMs)]),
      ...(status.message === undefined ? [] : [`    ${ink.dim(status.message)}`]),
    ];
  }

  #proofLine(item: Evidence): string {
    const ink = this.#ink;
    const standing = item.voidedAt === undefined ? ink.good(item.kind) : `${item.kind} ${ink.dim(`(until: ${item.voidedBecause ?? ''})`)}`;
    return `  ${ink.bold('proof')}  ${standing}  ${ink.dim(item.detail)}`;
  }

  #runLine(entry: JournalEntry, faultAtMs: number): string {
    const ink = this.#ink;
    const began = stamp(Date.parse(entry.startedAt) - faultAtMs);
    const result = entry.result ?? 'under way';
    const shown = result === 'succeeded' ? ink.good('✓') : entry.result === undefined ? ink.warn('…') : ink.bad('✗');
    const took = entry.finishedAt === undefined ? '' : `${Date.parse(entry.finishedAt) - Date.parse(entry.startedAt)} ms`;
    return `    ${ink.dim(began)} ${shown} ${entry.action.padEnd(11)} ${entry.agent.padEnd(10)} ${entry.device.padEnd(16)} ${took.padStart(8)}  ${entry.result === 'succeeded' ? '' : result}`;
  }

  /** Without a terminal: every change of the fence once, as a line. */
  #tellChanges(): void {
    const [broken, watcher] = [this.#broken, this.#watcher];
    if (broken === undefined || watcher === undefined || this.#isClosed) return;
    this.#tellMachines(watcher);
    const leader = watcher.leaderLease?.spec.holderIdentity ?? '';
    const isAnyFenced = broken.victims.some((node) => watcher.fences.get(fenceName(node))?.status?.frozen !== undefined);
    if (isAnyFenced && (leader === '' || this.#replicas?.named(leader) !== undefined)) this.#tellOnce(`leader ${leader}`, this.#leaderLine(watcher));
    for (const node of broken.victims) {
      const status = watcher.fences.get(fenceName(node))?.status;
      if (status?.frozen !== undefined) this.#tellFence(status, broken.victims.length === 1 ? '' : `${node}  `, node);
    }
  }

  #tellMachines(watcher: Watcher): void {
    if (watcher.machines === undefined) return;
    for (const { node } of this.#session?.fleet ?? []) {
      const words = describeMachine(machineOn(watcher, node));
      if (words === (this.#machinesTold.get(node) ?? 'Running')) continue;
      this.#machinesTold.set(node, words);
      this.#out.write(`${stamp((this.#session?.now() ?? 0) - (this.#broken?.atMs ?? 0))} Machine of ${node}: ${words}\n`);
    }
  }

  #tellFence(status: NodeFenceStatus, prefix: string, node: string): void {
    const tell = (key: string, line: string): void => this.#tellOnce(`${node} ${key}`, prefix + line);
    for (const entry of status.journal) {
      const place = entry.device === '' ? '' : ` at ${entry.device}`;
      tell(entry.id, `  ${entry.action} by ${entry.agent}${place}, attempt ${entry.attempt}`);
      if (entry.result !== undefined) tell(`${entry.id} end`, `  ${entry.action} by ${entry.agent}: ${entry.result} (${entry.message ?? ''})`);
    }
    for (const item of status.evidence) tell(`${item.source} proof`, `  proof: ${item.kind}`);
    if (status.hold !== undefined) tell(`hold ${status.hold.since} ${status.hold.policy}`, `held by ${status.hold.policy}: ${status.hold.message}`);
    const place = `${status.incident} ${status.restarts} ${status.state} ${status.step} ${status.outcome ?? ''}`;
    tell(place, `fence ${status.state}, step ${status.step}: ${status.message ?? ''}`);
  }

  #tellOnce(key: string, line: string): void {
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#out.write(`${stamp((this.#session?.now() ?? 0) - (this.#broken?.atMs ?? 0))} ${line}\n`);
  }
}

/** `Failed:Preserved until 12:00:09`. */
function describeMachine(machine: Machine | undefined): string {
  const expiry = machine?.status?.currentStatus?.preserveExpiryTime;
  return `${shownPhase(machine)}${expiry === undefined ? '' : ` until ${expiry.slice(11, 19)}`}`;
}

function machineOn(watcher: Watcher, node: string): Machine | undefined {
  return [...(watcher.machines?.all() ?? [])].find(({ metadata }) => metadata.labels?.[MACHINE_NODE_LABEL] === node);
}

/** Says nothing; for the matrix. */
export const SILENT: Audience = {
  says: () => undefined,
  opens: () => undefined,
  breaks: () => undefined,
  tells: () => undefined,
  closes: () => undefined,
};

export function stamp(ms: number): string {
  return `${(Math.max(0, ms) / 1000).toFixed(2).padStart(6)}s`;
}

/** Cuts a coloured line to the terminal's width, so that redrawing hits the same rows. */
function clipped(line: string, width: number): string {
  let shown = 0;
  let text = '';
  for (const part of line.split(/(\u001b\[\d+m)/)) {
    if (part.startsWith('\u001b')) {
      text += part;
      continue;
    }
    text += part.slice(0, Math.max(0, width - 1 - shown));
    shown += part.length;
  }
  return text;
}

function byName(a: { metadata: { name: string } }, b: { metadata: { name: string } }): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

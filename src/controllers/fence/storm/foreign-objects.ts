import type { MaintenanceMark } from '../../../domain/policies/view.ts';
import { ApiStatusError } from '../../../ports/api-transport.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Cluster, Resource } from '../../../ports/cluster.ts';
import type { KubeObject } from '../../../ports/objects.ts';
import type { Logger } from '../../../ports/recorder.ts';
import type { ForeignMarks } from '../dependencies.ts';

export interface NodeMaintenance extends KubeObject {
  spec: { nodeName: string; reason?: string };
}

/** Of medik8s' node-maintenance-operator; only where its CRD is installed. */
export const NODE_MAINTENANCES: Resource<NodeMaintenance> = {
  group: 'nodemaintenance.medik8s.io',
  version: 'v1beta1',
  kind: 'NodeMaintenance',
  plural: 'nodemaintenances',
  namespaced: false,
};
export const DAEMON_SETS: Resource = { group: 'apps', version: 'v1', kind: 'DaemonSet', plural: 'daemonsets', namespaced: true };
export const KURED = { namespace: 'kube-system', name: 'kured', lock: 'weave.works/kured-node-lock' } as const;

const EVERY_MS = 30_000;
/** What was read within a second before it is asked for is read. */
const FRESH_MS = 1_000;
/** What is not there, or may not be read, is seldom installed in the middle of a failure. */
const ABSENT_MS = 600_000;
/** A node that never returns from its reboot keeps kured's lock for ever: so long it counts, from our first sight of it. */
const KURED_LOCK_MAX_MS = 1_800_000;

/** That one node may reboot. */
interface Lock {
  /** As it is written; another one of the same node is another reboot. */
  text: string;
  seenAtMs: number;
}

/** Objects by which others say that they have a node in hand; read while something has failed, and seldom. */
export class ForeignObjects implements ForeignMarks {
  readonly #cluster: Pick<Cluster, 'get' | 'list'>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #listeners: ((nodes: readonly string[]) => void)[] = [];
  #maintained = new Map<string, string>();
  /** Of kured, by node. */
  #locks: ReadonlyMap<string, Lock> = new Map();
  readonly #absentUntilMs = { maintenances: Number.NEGATIVE_INFINITY, kured: Number.NEGATIVE_INFINITY };
  #cancel: (() => void) | undefined;
  #isAsked = false;
  #isPrepared = false;
  #isPending = false;
  #readAtMs = Number.NEGATIVE_INFINITY;
  /** Counted: a read that began before the last one settles nothing. */
  #asks = 0;

  constructor({ cluster, clock, log }: { cluster: Pick<Cluster, 'get' | 'list'>; clock: Clock; log: Logger }) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#log = log;
  }

  marksOf(node: string): readonly MaintenanceMark[] {
    const marks: MaintenanceMark[] = [];
    const maintenance = this.#maintained.get(node);
    if (maintenance !== undefined) marks.push({ source: 'node-maintenance', where: `NodeMaintenance ${maintenance}` });
    const lock = this.#locks.get(node);
    if (lock !== undefined && this.#clock.monotonicMs() < lock.seenAtMs + KURED_LOCK_MAX_MS)
      marks.push({ source: 'kured', where: `annotation ${KURED.lock} on DaemonSet ${KURED.namespace}/${KURED.name}` });
    return marks;
  }

  onChange(listener: (nodes: readonly string[]) => void): void {
    this.#listeners.push(listener);
  }

  get isRead(): boolean {
    return !this.#isPending;
  }

  /** What is not installed is known before a node fails, and no fence waits for that. */
  start(): void {
    void this.prepare();
  }

  /** Resolves when it was read once. */
  async prepare(): Promise<void> {
    this.#isPrepared = true;
    if (!this.#isAsked) await this.#refresh();
  }

  ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#asks += 1;
    const nowMs = this.#clock.monotonicMs();
    this.#isPending = nowMs > this.#readAtMs + FRESH_MS && Object.values(this.#absentUntilMs).some((untilMs) => nowMs >= untilMs);
    void this.#refresh();
  }

  rest(): void {
    this.#isAsked = false;
    this.#isPending = false;
    this.#again();
  }

  close(): void {
    this.#isPrepared = false;
    this.rest();
  }

  async #refresh(): Promise<void> {
    const before = this.#marked();
    const asks = this.#asks;
    const startedAtMs = this.#clock.monotonicMs();
    await Promise.all([
      this.#unlessAbsent('maintenances', async () => {
        const found = await this.#cluster.list(NODE_MAINTENANCES);
        this.#maintained = new Map(
          found.filter(({ spec }) => typeof spec.nodeName === 'string').map(({ metadata, spec }) => [spec.nodeName, metadata.name]),
        );
      }),
      this.#unlessAbsent('kured', async () => {
        const kured = await this.#cluster.get(DAEMON_SETS, KURED.name, KURED.namespace);
        if (kured === undefined) throw new ApiStatusError(404, 'NotFound', 'no kured here');
        this.#seeLocks(locksIn(kured.metadata.annotations?.[KURED.lock]));
      }),
    ]);
    const isOfLastAsk = asks === this.#asks;
    const wasPending = isOfLastAsk && this.#isPending;
    if (isOfLastAsk) this.#isPending = false;
    this.#readAtMs = startedAtMs;
    const changed = [...new Set([...before, ...this.#marked()])];
    if (wasPending || changed.length > 0) for (const listener of this.#listeners) listener(changed);
    if (isOfLastAsk) this.#again();
  }

  #again(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#isAsked || this.#isPrepared) this.#cancel = this.#clock.after(this.#isAsked ? EVERY_MS : ABSENT_MS, () => void this.#refresh());
  }

  /** What was last read stands while it cannot be read. */
  async #unlessAbsent(what: 'maintenances' | 'kured', read: () => Promise<void>): Promise<void> {
    if (this.#clock.monotonicMs() < this.#absentUntilMs[what]) return;
    try {
      await read();
    } catch (error) {
      if (!(error instanceof ApiStatusError) || (error.status !== 403 && error.status !== 404)) {
        this.#log.warn('maintenance marks of others could not be read: what was read last counts', { what, error: String(error) });
        return;
      }
      this.#absentUntilMs[what] = this.#clock.monotonicMs() + ABSENT_MS;
      if (what === 'kured') this.#locks = new Map();
      else this.#maintained = new Map();
    }
  }

  /** Of those that stood there before the first sight counts, whoever has taken or given back one beside it. */
  #seeLocks(found: ReadonlyMap<string, string>): void {
    const nowMs = this.#clock.monotonicMs();
    const sightOf = (node: string, text: string): Lock => {
      const known = this.#locks.get(node);
      return known?.text === text ? known : { text, seenAtMs: nowMs };
    };
    this.#locks = new Map([...found].map(([node, text]) => [node, sightOf(node, text)]));
  }

  #marked(): string[] {
    return [...this.#maintained.keys(), ...this.#locks.keys()];
  }
}

/** More nodes do not reboot at once. */
const LOCKS_MAX = 256;

/** `{"nodeID": "a", "created": ..., "TTL": 0}`; with `--concurrency` `{"maxOwners": 2, "locks": [...]}` of the same; by node. What is not readable locks nobody. */
function locksIn(text: string | undefined): ReadonlyMap<string, string> {
  const written = text === undefined ? undefined : parsed(text);
  const locks = fieldOf(written, 'locks');
  const all = Array.isArray(locks) ? locks.slice(0, LOCKS_MAX) : [written];
  return new Map(
    all.flatMap((lock: unknown) => {
      const node = fieldOf(lock, 'nodeID');
      return typeof node === 'string' ? [[node, JSON.stringify(lock)] as const] : [];
    }),
  );
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

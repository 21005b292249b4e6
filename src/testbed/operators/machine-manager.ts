import type { Clock } from '../../ports/clock.ts';
import { MACHINE_NODE_LABEL, MACHINES } from '../../ports/machines.ts';
import type { Machine } from '../../ports/machines.ts';
import { WorldApi } from '../cluster/api.ts';
import type { WorldDependencies } from '../cluster/dependencies.ts';
import { WORLD_NODES } from '../cluster/kinds.ts';
import type { WorldNode } from '../cluster/kinds.ts';
import { Loop } from '../cluster/loop.ts';
import { Mirror } from '../cluster/mirror.ts';
import { FLEET_NAMESPACE } from './fleet.ts';

/** How patient an MCM is, and how long it keeps what it was asked to keep. */
export interface ManagerOptions {
  healthTimeoutMs: number;
  preserveTimeoutMs: number;
}

/** What a user writes on a Node or a Machine of an MCM. */
export const PRESERVE = 'node.machine.sapcloud.io/preserve';
const KEPT_VALUES: ReadonlySet<string | undefined> = new Set(['now', 'when-failed']);

/**
 * The part of an MCM beside which nodefence only observes: whose node is not Ready is Unknown, then Failed; then it is deleted, with the VM, unless its node
 * or itself asks to be preserved. Who is Ready again runs, and is preserved no more. Nobody drains, and no maximum counts.
 */
export class MachineManager {
  readonly #api: WorldApi;
  readonly #clock: Clock;
  readonly #options: ManagerOptions;
  readonly #machines: Mirror<Machine>;
  readonly #nodes: Mirror<WorldNode>;
  readonly #loop: Loop;
  /** Since when each Machine is Unknown, by its uid, on the clock of this process. */
  readonly #silent = new Map<string, number>();

  constructor(dependencies: WorldDependencies, options: ManagerOptions) {
    this.#api = new WorldApi(dependencies.transport);
    this.#clock = dependencies.clock;
    this.#options = options;
    this.#loop = new Loop(dependencies.clock, dependencies.random, () => this.#run());
    const poke = (): void => this.#loop.poke();
    this.#machines = new Mirror<Machine>({ ...dependencies, resource: MACHINES, namespace: FLEET_NAMESPACE, onChange: poke, onSync: poke });
    this.#nodes = new Mirror<WorldNode>({ ...dependencies, resource: WORLD_NODES, onChange: poke, onSync: poke });
  }

  start(): void {
    this.#machines.start();
    this.#nodes.start();
  }

  stop(): void {
    this.#machines.stop();
    this.#nodes.stop();
    this.#loop.stop();
  }

  /** When to look again although nothing changes. */
  async #run(): Promise<number | undefined> {
    if (!this.#machines.isSynced || !this.#nodes.isSynced) return undefined;
    let nextMs: number | undefined;
    for (const machine of [...this.#machines.all()]) {
      const dueMs = await this.#judge(machine);
      if (dueMs !== undefined) nextMs = Math.min(nextMs ?? Infinity, dueMs);
    }
    return nextMs;
  }

  async #judge(machine: Machine): Promise<number | undefined> {
    const node = this.#nodes.get(machine.metadata.labels?.[MACHINE_NODE_LABEL] ?? '');
    const ready = node?.status.conditions?.find(({ type }) => type === 'Ready')?.status;
    if (machine.metadata.deletionTimestamp !== undefined || ready === undefined) return undefined;
    const { phase = '', preserveExpiryTime } = machine.status?.currentStatus ?? {};
    if (ready === 'True') {
      this.#silent.delete(machine.metadata.uid ?? '');
      if (phase !== 'Running' || preserveExpiryTime !== undefined) await this.#write(machine, { phase: 'Running', preserveExpiryTime: null });
      return undefined;
    }
    if (phase === 'Failed') {
      await this.#keep(machine, KEPT_VALUES.has((node ?? machine).metadata.annotations?.[PRESERVE] ?? machine.metadata.annotations?.[PRESERVE]));
      return undefined;
    }
    return this.#wait(machine, phase);
  }

  async #wait(machine: Machine, phase: string): Promise<number | undefined> {
    const uid = machine.metadata.uid ?? '';
    const sinceMs = this.#silent.get(uid) ?? this.#clock.monotonicMs();
    this.#silent.set(uid, sinceMs);
    const leftMs = sinceMs + this.#options.healthTimeoutMs - this.#clock.monotonicMs();
    if (leftMs <= 0) await this.#write(machine, { phase: 'Failed' });
    else if (phase !== 'Unknown') await this.#write(machine, { phase: 'Unknown' });
    return leftMs <= 0 ? undefined : leftMs;
  }

  /** A Failed one is kept, or goes with its VM. */
  async #keep(machine: Machine, isAsked: boolean): Promise<void> {
    const isKept = machine.status?.currentStatus?.preserveExpiryTime !== undefined;
    if (!isAsked) await this.#api.remove(MACHINES, machine);
    else if (!isKept) await this.#write(machine, { preserveExpiryTime: stamp(this.#clock.wallMs() + this.#options.preserveTimeoutMs) });
  }

  async #write({ metadata: { name, namespace }, status }: Machine, changes: { phase?: string; preserveExpiryTime?: string | null }): Promise<void> {
    const isMoved = changes.phase !== undefined && changes.phase !== status?.currentStatus?.phase;
    const currentStatus = { ...changes, ...(isMoved && { lastUpdateTime: stamp(this.#clock.wallMs()) }) };
    await this.#api.patch(MACHINES, { namespace, name, subresource: 'status' }, 'merge', { status: { currentStatus } });
  }
}

function stamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

import { HostMachines } from '../../../src/drill/fleet/host-machines.ts';
import type { ApiEvent } from '../../../src/drill/laws/trace.ts';
import type { Trace } from '../../../src/drill/world/dependencies.ts';
import type { ApiTransport } from '../../../src/ports/api-transport.ts';
import { CLUSTER_API_USER } from '../api.ts';
import type { SimulatedApi } from '../api.ts';
import type { Hardware } from '../hardware.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { WORLD_BEGINS_WALL_MS } from '../kernel/process-clock.ts';
import type { SimulatedProcess } from '../kernel/simulated-process.ts';
import { Deeds } from './deeds.ts';
import { installSisters } from './installed.ts';
import { Requests } from './requests.ts';
import type { Sisters } from './sisters.ts';

export interface SistersOptions {
  kernel: Kernel;
  api: SimulatedApi;
  nodes: readonly string[];
  hardware: Hardware;
  sisters: Sisters | undefined;
  trace: Trace;
  insider: (name: string, user: string) => [SimulatedProcess, ApiTransport];
}

/** What there is in a world for the controllers beside the one that fences: their kinds and objects, whoever works with these, and whoever asks for something. */
export class SistersOfWorld {
  readonly #options: SistersOptions;
  readonly #deeds: Deeds;
  readonly #requests: Requests;

  constructor(options: SistersOptions) {
    this.#options = options;
    const { kernel, api } = options;
    const { hardware } = options;
    const wallMs = (): number => WORLD_BEGINS_WALL_MS + kernel.nowMs;
    this.#deeds = new Deeds({ kernel, admin: api.admin, wallMs, switchOn: (node) => hardware.switchOn(node) });
    this.#requests = new Requests(() => kernel.nowMs);
  }

  /** Without time passing. */
  async install(): Promise<void> {
    const { api, nodes, sisters } = this.#options;
    if (sisters === undefined) return;
    await installSisters({ admin: api.admin, transport: api.transportFor('admin'), nodes, wallMs: WORLD_BEGINS_WALL_MS }, sisters);
  }

  start(): void {
    const { sisters, insider, trace } = this.#options;
    if (sisters === undefined) return;
    const [process, transport] = insider('cluster-api', CLUSTER_API_USER);
    new HostMachines({ transport, clock: process.clock, random: process.random, trace }).start();
    this.#deeds.schedule(sisters.deeds);
  }

  hear(event: ApiEvent): void {
    this.#requests.hear(event);
  }

  get isPending(): boolean {
    return this.#deeds.isPending || this.#options.hardware.isPending;
  }

  /** Requests of which more is to be expected, each in words. */
  openRequests(): string[] {
    return this.#requests.open();
  }
}

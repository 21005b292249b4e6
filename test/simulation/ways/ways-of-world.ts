import type { ApiEvent, DeviceEvent } from '../../../src/laws/trace.ts';
import type { AgentDefinition } from '../../../src/ports/agents.ts';
import type { Pod } from '../../../src/ports/objects.ts';
import type { Machine } from '../../../src/testbed/cluster/machine.ts';
import { simulatedPathDefinition } from '../../../src/testbed/simulation/device-agent.ts';
import type { SimulatedDevice } from '../../../src/testbed/simulation/devices.ts';
import type { Kernel } from '../../../src/testbed/simulation/kernel.ts';
import type { Port } from '../../../src/testbed/simulation/port.ts';
import { CONTROLLER_USER } from '../api.ts';
import type { FenceWatch } from '../fence-watch.ts';
import { PaceTruth, podLetGoBy } from './pace.ts';
import { programDefinition, Programs } from './programs.ts';
import { RunTruth } from './run-truth.ts';
import type { Ways } from './ways.ts';

export interface WaysOptions {
  kernel: Kernel;
  ways: Ways;
  fence: FenceWatch;
  machines: ReadonlyMap<string, Machine>;
  devices: ReadonlyMap<string, SimulatedDevice>;
  wallMs: () => number;
  /** A program was begun; judged as what devices are told. */
  onDevice: (event: DeviceEvent) => void;
}

/** What there is in a world beside BMCs, and what is promised of it. */
export class WaysOfWorld {
  readonly #options: WaysOptions;
  readonly #programs: Programs | undefined;
  readonly #runs: RunTruth;
  readonly #pace: PaceTruth | undefined;
  /** `namespace/name` of pods, with where each is. */
  readonly #pods = new Map<string, { node: string; uid: string }>();

  constructor(options: WaysOptions) {
    this.#options = options;
    const { kernel, ways, fence, machines, onDevice, wallMs } = options;
    this.#runs = new RunTruth((name) => fence.of(name), wallMs);
    if (ways.podsPerMinute !== undefined) this.#pace = new PaceTruth(ways.podsPerMinute);
    if (ways.program === undefined) return;
    const onRun = (event: DeviceEvent, intent: string): void => {
      onDevice(event);
      const violation = this.#runs.begun(event, intent);
      if (violation !== undefined) kernel.fail(`at ${kernel.nowMs.toFixed(0)} ms: ${violation}`);
    };
    this.#programs = new Programs({ kernel, machines, program: ways.program, onRun });
  }

  /** What a controller process has for it. */
  agents(port: Port): AgentDefinition[] {
    const programs = this.#programs === undefined ? [] : [programDefinition(this.#programs, port)];
    return [simulatedPathDefinition(this.#options.devices, port), ...programs];
  }

  /** Where a pod is of which only the name is told. */
  nodeOfPod(key: string): string | undefined {
    return this.#pods.get(key)?.node;
  }

  /** How often programs were begun, and pods let go at a pace. */
  get counts(): { runs: number; paced: number } {
    return { runs: this.#runs.count, paced: this.#pace?.count ?? 0 };
  }

  /** What is broken by a request, in words. */
  heard(event: ApiEvent): string | undefined {
    if (event.status >= 300) return undefined;
    if (event.resource === 'nodes' && event.object !== undefined)
      this.#pace?.nodeHeard(event.name ?? '', event.verb === 'delete' ? {} : event.object);
    const key = event.user === CONTROLLER_USER ? podLetGoBy(event) : undefined;
    const pod = key === undefined ? undefined : this.#pods.get(key);
    const violation = pod && this.#pace?.letGo(pod.node, pod.uid, this.#options.kernel.nowMs);
    this.#note(event);
    return violation;
  }

  #note({ resource, subresource, object }: ApiEvent): void {
    if (resource !== 'pods' || object === undefined || subresource === 'eviction') return;
    const { metadata, spec } = object as Pod;
    if (spec.nodeName !== undefined) this.#pods.set(`${metadata.namespace ?? ''}/${metadata.name}`, { node: spec.nodeName, uid: metadata.uid ?? '' });
  }
}

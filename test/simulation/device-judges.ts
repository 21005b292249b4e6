import type { ApiEvent, DeviceEvent } from '../../src/laws/trace.ts';
import type { FenceWatch } from './fence-watch.ts';
import type { Guards } from './guards.ts';
import type { Scenario } from './scenario.ts';
import type { SecondariesOfWorld } from './secondary-controllers/secondaries-of-world.ts';
import { HeldHosts } from './secondary-controllers/held-hosts.ts';
import { StormTruth } from './storm-truth.ts';
import { FreshLook } from './ways/fresh-look.ts';

export interface DeviceJudgesOptions {
  scenario: Scenario;
  fence: FenceWatch;
  guards: Guards;
  /** The node on which a process runs that lives, or lived last of its replica. */
  hostOfProcess: (name: string) => string | undefined;
  secondaries: () => Pick<SecondariesOfWorld, 'asked'>;
}

/** What is promised of every request to a device, but for what the laws say and who leads. */
export class DeviceJudges {
  readonly storm: StormTruth;
  readonly #freshLook: FreshLook;
  readonly #hosts: HeldHosts;
  readonly #options: DeviceJudgesOptions;

  constructor(options: DeviceJudgesOptions) {
    this.#options = options;
    this.storm = new StormTruth(options.scenario, options.fence);
    this.#freshLook = new FreshLook(options.fence);
    this.#hosts = new HeldHosts(options.scenario, (node, nowMs) => this.storm.isDown(node, nowMs));
  }

  /** `process` made the request, where it is a controller's. Returns what is broken by it, in words. */
  heard(event: ApiEvent, process: string | undefined, nowMs: number): string | undefined {
    this.#freshLook.heard(event, process, nowMs);
    return this.#hosts.heard(event, process, nowMs);
  }

  /** What is broken by this request of a device, in words. */
  asked(event: DeviceEvent, nowMs: number): string | undefined {
    const { guards, secondaries } = this.#options;
    return (
      this.#ownNode(event) ??
      this.storm.asked(event, nowMs) ??
      guards.asked(event, nowMs) ??
      this.#freshLook.asked(event, nowMs) ??
      // A machine that is kept may be isolated.
      (event.storage === undefined ? secondaries().asked(event) : undefined)
    );
  }

  #ownNode({ action, want, session, node, device }: DeviceEvent): string | undefined {
    const isOwn = action === 'set' && want === 'off' && this.#options.hostOfProcess(session) === node;
    return isOwn ? `P10: ${session} set ${device} off, on which it runs itself` : undefined;
  }
}

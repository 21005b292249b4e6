import { checkDaemonTiming, daemonTiming, differences } from '../../domain/node-daemon/times.ts';
import type { WrittenTimes } from '../../domain/node-daemon/times.ts';
import type { DaemonTiming } from '../../domain/timing-daemon.ts';

/**
 * The times of this daemon: what its admin wrote for this node, else what the controllers say, else the default. They are fixed before anybody keeps the node
 * up or the watchdog is opened: from then on others count with them.
 */
export class DaemonTimes {
  readonly #own: WrittenTimes;
  #current: DaemonTiming;
  #isFixed = false;
  #problem: string | undefined;

  /** Throws where those of the admin break a timing rule. */
  constructor(own: WrittenTimes) {
    this.#own = own;
    this.#current = daemonTiming(own);
    const [broken] = brokenRules(this.#current);
    if (broken !== undefined) throw new Error(broken);
  }

  get current(): DaemonTiming {
    return this.#current;
  }

  get isFixed(): boolean {
    return this.#isFixed;
  }

  /** One sentence; undefined: these are the times that are wanted. */
  get problem(): string | undefined {
    return this.#problem;
  }

  fix(): void {
    this.#isFixed = true;
  }

  /** Those of an earlier process of this boot that left the watchdog armed: others count with what it attested. */
  restore(times: WrittenTimes): void {
    const wanted = this.#current;
    this.#current = daemonTiming({ ...this.#own, ...times });
    this.#isFixed = true;
    this.#differ(wanted);
  }

  /** What the controllers say. */
  ask(times: WrittenTimes): void {
    const wanted = daemonTiming({ ...times, ...this.#own });
    const [broken] = brokenRules(wanted);
    if (broken !== undefined) {
      this.#problem = `the controllers' times are not taken: ${broken}`;
      return;
    }
    if (!this.#isFixed) this.#current = wanted;
    this.#differ(wanted);
  }

  #differ(wanted: DaemonTiming): void {
    const differing = differences(this.#current, wanted);
    this.#problem = differing.length === 0 ? undefined : `runs with ${differing.join(', ')} until its next clean stop`;
  }
}

function brokenRules(timing: DaemonTiming): string[] {
  return checkDaemonTiming(timing).flatMap(({ severity, message }) => (severity === 'error' ? [message] : []));
}

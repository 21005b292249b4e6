import { doubtsOf, isUnsure, signsOfWork } from '../../config/other-controller.ts';
import type { OtherFacts } from '../../config/other-controller.ts';
import type { Reflector } from '../../kube/reflector.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Metal3RemediationVersion } from '../../ports/metal3.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { Logger } from '../../ports/recorder.ts';
import { Detector, SOON_MS } from '../detection/detector.ts';
import { SignMemory } from '../detection/sign-memory.ts';
import type { ServedPart } from '../served-part.ts';
import { detectMetal3 } from './mode.ts';
import type { Metal3Facts, Metal3RemediationChoice } from './mode.ts';

export interface WatchedMetal3Parts {
  clock: Clock;
  log: Logger;
  choice: Metal3RemediationChoice;
  read: () => Promise<Metal3Facts>;
  leastRestMs?: number | undefined;
  /** Nothing of it is started yet. */
  partOf: (version: Metal3RemediationVersion, hasOperator: () => boolean) => ServedPart;
}

const LOOK_MS = 60_000;

/** Metal3Remediation for as long as it is ours, ended where Metal3's own controller is seen: it goes on with what stands, for both write the same. */
export class WatchedMetal3Remediation {
  readonly #parts: WatchedMetal3Parts;
  readonly #memory: SignMemory<Metal3Facts>;
  readonly #detector: Detector<Metal3Facts>;
  #running: { version: Metal3RemediationVersion; part: ServedPart } | undefined;
  #leaving: Promise<unknown> = Promise.resolve();
  readonly #operators: SignMemory<OtherFacts>;
  /** In doubt there is one. */
  #hasOperator = true;
  #told = '';
  #isClosed = false;

  constructor(parts: WatchedMetal3Parts) {
    const { clock, log, read, leastRestMs } = parts;
    this.#parts = parts;
    this.#memory = new SignMemory<Metal3Facts>(clock, signsOfWork);
    this.#operators = new SignMemory<OtherFacts>(clock, signsOfWork);
    const question = 'whose part Metal3Remediation is';
    this.#detector = new Detector({ clock, log, question, read, judge: (found) => this.#judge(found), leastRestMs });
  }

  /** Once they are synced: what may not be read makes nobody unready. */
  get reflectors(): readonly Reflector<KubeObject>[] {
    return (this.#running?.part.reflectors ?? []).filter(({ lister }) => lister.synced);
  }

  /** Called when the Nodes are synced. */
  start(): void {
    this.#detector.start();
  }

  /** Leadership has come. */
  wake(): void {
    this.#running?.part.wake();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#detector.close();
    this.#end();
    await this.#leaving;
  }

  problems(): string[] {
    return this.#running?.part.problems() ?? [];
  }

  #judge(found: Metal3Facts): number {
    const { choice, log } = this.#parts;
    const facts = this.#memory.recall(found);
    const operator = this.#operators.recall(found.operator);
    this.#hasOperator = doubtsOf('an operator of BareMetalHosts', operator).length > 0;
    const { isOwn, reason } = detectMetal3(choice, facts);
    const words = `${isOwn ? 'own' : 'off'}: ${reason}`;
    // Nobody wants to read of what is not there.
    if (this.#told !== words && (facts.served !== undefined || this.#told !== '')) {
      this.#told = words;
      log.info('Metal3Remediation', { mode: words });
    }
    this.#change(isOwn ? facts.served : undefined);
    return isOwn || isUnsure(facts) || isUnsure(operator) ? SOON_MS : LOOK_MS;
  }

  #change(version: Metal3RemediationVersion | undefined): void {
    if (this.#isClosed || this.#running?.version === version) return;
    this.#end();
    if (version === undefined) return;
    const part = this.#parts.partOf(version, () => this.#hasOperator);
    this.#running = { version, part };
    for (const reflector of part.reflectors) reflector.start();
    part.start();
  }

  #end(): void {
    const part = this.#running?.part;
    this.#running = undefined;
    if (part === undefined) return;
    for (const reflector of part.reflectors) reflector.close();
    this.#leaving = Promise.all([this.#leaving, part.close()]);
  }
}

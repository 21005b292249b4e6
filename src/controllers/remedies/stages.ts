import type { RemedyStage } from '../../domain/policies/remedied.ts';
import type { RemedyPosition } from '../../domain/remedy/position.ts';

/** What remedies do to each node now, as storm policies count it. Changed in the turn in which one begins. */
export class Stages {
  #stages: ReadonlyMap<string, RemedyStage> = new Map();

  /** Another map after each change: who has judged by one need not read it again. */
  get all(): ReadonlyMap<string, RemedyStage> {
    return this.#stages;
  }

  /** By what stands written. */
  see(node: string, positions: readonly RemedyPosition[]): void {
    const kinds = positions.map(kindOf);
    const kind = (['begun', 'acted', 'asked'] as const).find((each) => kinds.includes(each));
    const known = this.#stages.get(node);
    // What has just begun stands written as asked for yet.
    const isBeginning = known?.kind === 'begun' && positions.some(({ phase }) => phase === 'starting');
    if (kind === undefined) this.forget(node);
    else if (kind !== known?.kind && !(isBeginning && kind !== 'begun')) this.#set(node, { ...known, kind });
  }

  begins(node: string, nowMs: number): void {
    this.#set(node, { kind: 'begun', beganAtMs: nowMs });
  }

  forget(node: string): void {
    if (!this.#stages.has(node)) return;
    this.#stages = new Map([...this.#stages].filter(([name]) => name !== node));
  }

  #set(node: string, stage: RemedyStage): void {
    this.#stages = new Map(this.#stages).set(node, stage);
  }
}

function kindOf({ phase, run, hasActed }: RemedyPosition): RemedyStage['kind'] | undefined {
  const isAsked = run !== undefined && run.of !== 'recovery';
  if (isAsked && phase !== 'starting') return 'begun';
  if (hasActed && phase !== 'recovered') return 'acted';
  return isAsked ? 'asked' : undefined;
}

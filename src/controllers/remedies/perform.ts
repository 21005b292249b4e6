import type { RemedyAction, RemedyPosition } from '../../domain/remedy/position.ts';
import { timestamp } from '../../ports/clock.ts';
import { REMEDIATION_POD, REMEDIATION_TIMESTAMP } from '../../ports/remedies.ts';
import { NODES } from '../../ports/resources.ts';
import { claim, withdraw } from '../shared/claims/claim.ts';
import { Conflict } from '../shared/conflict.ts';
import { gatedWrites } from '../shared/gated-cluster.ts';
import type { Action } from './actions.ts';
import type { RemedyDependencies } from './dependencies.ts';
import type { Evictions } from './evictions.ts';
import type { Observation } from './observe.ts';
import type { NodeMemory } from './memory.ts';
import type { RemedyPermission } from './permission.ts';
import { claimantOf, isRequestedBy } from './runs/fence-runs.ts';
import type { RunContext } from './runs/run-kind.ts';
import type { Runs } from './runs/runs.ts';
import type { Stages } from './stages.ts';

export interface PerformDependencies extends Pick<RemedyDependencies, 'cluster' | 'clock' | 'recorder' | 'log'> {
  runs: Runs;
  evictions: Evictions;
  stages: Stages;
}

type Done = Exclude<Action, { kind: 'write' }>;

/** Carries out what stands written. Rejects with `Conflict` where it no longer fits. */
export class Performer {
  readonly #given: PerformDependencies;

  constructor(given: PerformDependencies) {
    this.#given = given;
  }

  async perform(action: Done, found: Observation, memory: NodeMemory, permission: RemedyPermission): Promise<void> {
    const { runs, cluster } = this.#given;
    const { node, contexts } = found;
    switch (action.kind) {
      case 'end':
        return this.#end(action.context);
      case 'proceed':
        // Policies let go on what has begun: it is counted among what they hold, and would wait for itself.
        return runs.of(action.context).proceed?.(action.context, this.#mayGoOn(permission, true));
      case 'annotate':
        return this.#annotate(found, action.pod);
      case 'withdraw':
        await withdraw({ cluster }, node.metadata.name, action.requester);
        return undefined;
      case 'act':
        return this.#act(action.action, { found, memory, permission, context: contextOf(action.action, contexts), threshold: action.threshold });
    }
  }

  async #act(
    action: RemedyAction,
    {
      found,
      memory,
      permission,
      context,
      threshold,
    }: { found: Observation; memory: NodeMemory; permission: RemedyPermission; context: RunContext | undefined; threshold: string },
  ): Promise<void> {
    const { runs, evictions, stages, clock, log } = this.#given;
    const { node } = found;
    const { name } = node.metadata;
    switch (action.kind) {
      case 'begin': {
        if (context?.use === undefined) throw new Conflict(`${action.run.remedy} is configured no more`);
        const isRecovery = action.run.of === 'recovery';
        await runs.of(context).begin({ ...context, use: context.use }, () => {
          permission.demand(isRecovery);
          // In the same turn: the next node that asks sees it.
          if (!isRecovery) stages.begins(name, clock.monotonicMs());
        });
        log.info('remedy begun', { node: name, reason: action.run.remedy, detail: threshold });
        return;
      }
      case 'cancel':
        if (context !== undefined) await this.#end(context);
        return;
      case 'evict': {
        const position = memory.states.get(threshold)?.position;
        if (position !== undefined) await evictions.evict(node, memory, position, this.#mayGoOn(permission, false));
        return;
      }
      case 'release': {
        const position = memory.states.get(threshold)?.position;
        if (position !== undefined) await this.#release(action, found, position, permission);
      }
    }
  }

  async #end(context: RunContext): Promise<void> {
    context.memory.ends(context.run);
    await this.#given.runs.of(context).cancel(context);
  }

  /** By a fence that ends in off: it sends its own off, reads it, and lets the pods go by that (P1). */
  async #release(
    { id, mode }: Extract<RemedyAction, { kind: 'release' }>,
    { node }: Observation,
    position: RemedyPosition,
    permission: RemedyPermission,
  ): Promise<void> {
    const { cluster, recorder } = this.#given;
    const gated = gatedWrites(() => permission.demand(false))(cluster);
    const asked = {
      ending: 'off' as const,
      ...(mode !== undefined && { release: mode }),
      isOwn: (requester: Parameters<typeof isRequestedBy>[0]) => isRequestedBy(requester, position),
    };
    const outcome = await claim({ cluster: gated, recorder }, node.metadata.name, claimantOf(position.threshold, id), asked);
    if (outcome.kind === 'taken') throw new Conflict(`${outcome.by} has node ${node.metadata.name}`);
  }

  async #annotate({ node }: Observation, pod: string): Promise<void> {
    const { cluster, clock } = this.#given;
    const { name, uid } = node.metadata;
    const annotations = { [REMEDIATION_TIMESTAMP]: timestamp(clock), [REMEDIATION_POD]: pod };
    await cluster.mergePatch(NODES, name, { metadata: { uid, annotations } });
  }

  #mayGoOn(permission: RemedyPermission, isRecovery: boolean): () => void {
    return () => permission.demand(isRecovery);
  }
}

function contextOf(action: RemedyAction, contexts: ReadonlyMap<string, RunContext>): RunContext | undefined {
  return action.kind === 'begin' || action.kind === 'cancel' ? contexts.get(action.run.id) : undefined;
}

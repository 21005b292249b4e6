import type { PeersTold } from '../../domain/node-daemon/attestation.ts';
import type { DaemonReason } from '../../ports/resources.ts';
import type { ControllersTold } from '../../domain/node-daemon/controllers.ts';

/** What the leader writes. Endings of grants are no such action: a run does them. */
export type Action =
  | { kind: 'assign-peers'; node: string; told: PeersTold }
  | { kind: 'tell-controllers'; told: ControllersTold }
  | { kind: 'make-key' }
  | { kind: 'change-key'; request: string }
  /** Its Lease, of this version. */
  | { kind: 'forget-node'; node: string; uid: string; version: string }
  | { kind: 'report-daemon'; node: string; reason: DaemonReason; message: string };

/** One object each. */
export interface Chain {
  key: string;
  actions: readonly [Action];
}

/** The same chain for as long as the same is to be done: what was done is not done again while its effect is still on the way here. */
export class Chains {
  #chains = new Map<string, { text: string; chain: Chain }>();

  /** Undefined: nothing is to be done about this object. */
  want(key: string, action: Action | undefined): void {
    if (action === undefined) {
      this.#chains.delete(key);
      return;
    }
    const text = JSON.stringify(action);
    if (this.#chains.get(key)?.text !== text) this.#chains.set(key, { text, chain: { key, actions: [action] } });
  }

  all(): Chain[] {
    return [...this.#chains.values()].map(({ chain }) => chain);
  }

  clear(): void {
    this.#chains = new Map();
  }
}

import { attestationName, GRANTS_ENDED } from '../../domain/node-daemon/attestation.ts';
import type { GrantsEnded } from '../../domain/node-daemon/attestation.ts';
import { missingPromises } from '../../domain/node-daemon/missing-promises.ts';
import { AgentError } from '../../ports/agents.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { EndingCall, NodeDaemons } from '../../ports/node-daemons.ts';
import type { Logger } from '../../ports/recorder.ts';
import { LEASES } from '../../ports/resources.ts';
import { isConflict, isPassing } from '../shared/conflict.ts';
import { readAttested } from './attested-nodes.ts';
import type { AttestedNode } from './attested-nodes.ts';
import type { Endings } from './endings.ts';
import type { Promises } from './promises.ts';

export interface GrantEnderParts {
  clock: Clock;
  log: Logger;
  /** Its writes reject where this replica may not write any more. */
  cluster: Pick<Cluster, 'get' | 'mergePatch'>;
  namespace: string;
  endings: Endings;
  promises: Pick<Promises, 'collect'>;
}

interface Standing {
  ended: GrantsEnded;
  /** Whoever has not promised cannot keep the node up. */
  isEnough: boolean;
}

const ASK_EVERY_MS = 1_000;
/** For so long those are asked too whose promise is not needed: what stands on every disk needs nobody to count. */
const ASK_ALL_MS = 3_000;
const TRIES_MAX = 5;

/** Ends the grants for one boot of one node, once and for ever: first here, then in the API, then at every peer. */
export class GrantEnder implements Pick<NodeDaemons, 'endGrants' | 'sawEnded'> {
  readonly #parts: GrantEnderParts;

  constructor(parts: GrantEnderParts) {
    this.#parts = parts;
  }

  sawEnded(node: string, bootID: string): void {
    this.#parts.endings.remember(node, bootID);
  }

  async endGrants(node: string, bootID: string, call: EndingCall): Promise<GrantsEnded> {
    const { clock, promises } = this.#parts;
    const fromMs = clock.monotonicMs();
    const byMs = fromMs + call.deadlineMs;
    let standing = await this.#write(node, bootID, { promised: new Set(), call });
    const collection = promises.collect(node, bootID);
    try {
      for (;;) {
        const { ended, isEnough } = standing;
        const nowMs = clock.monotonicMs();
        const missing = ended.eligible.filter((peer) => !ended.promised.includes(peer));
        const leftMs = (isEnough ? Math.min(byMs, fromMs + ASK_ALL_MS) : byMs) - nowMs;
        if (missing.length === 0 || leftMs <= 0 || call.signal.aborted) return ended;
        collection.ask(missing);
        await clock.sleep(Math.min(ASK_EVERY_MS, leftMs), call.signal).catch(() => undefined);
        standing = await this.#recorded(node, bootID, collection.promised, standing);
      }
    } finally {
      collection.end();
    }
  }

  /** What is not recorded now is recorded in the next second: the API server may be away while peers answer. */
  async #recorded(node: string, bootID: string, promised: ReadonlySet<string>, before: Standing): Promise<Standing> {
    try {
      return await this.#write(node, bootID, { promised });
    } catch (error) {
      if (!isPassing(error) && !isConflict(error)) throw error;
      this.#parts.log.debug('promises of peers not recorded; tried again', { node, boot: bootID, error });
      return before;
    }
  }

  /** Resolves with what stands. It is read anew each time: a node that still attests may have taken another peer meanwhile. */
  async #write(node: string, bootID: string, news: { promised: ReadonlySet<string>; call?: EndingCall }): Promise<Standing> {
    const { cluster, namespace, endings } = this.#parts;
    for (let tries = 1; ; tries += 1) {
      const attested = await this.#read(node, bootID);
      const standing = attested.ended?.bootID === bootID ? attested.ended : undefined;
      if (standing !== undefined) endings.remember(node, bootID);
      else if (news.call === undefined) throw refused(node, 'that its grants were ended was taken back by somebody');
      const wanted = wantedOf(attested, standing, news.promised);
      const result = { ended: wanted, isEnough: missingPromises(node, attested.attestation, wanted).length === 0 };
      if (standing?.eligible.length === wanted.eligible.length && standing.promised.length === wanted.promised.length) return result;
      const { uid, resourceVersion } = attested.lease.metadata;
      const patch = { metadata: { uid, resourceVersion, annotations: { [GRANTS_ENDED]: JSON.stringify(wanted) } } };
      const beforeSend = (): void => {
        if (standing === undefined) news.call?.beforeSend();
        // From this turn on no grant leaves, whatever becomes of the write.
        endings.remember(node, bootID);
      };
      try {
        await cluster.mergePatch(LEASES, attestationName(node), patch, { namespace, beforeSend });
        return result;
      } catch (error) {
        if (!isConflict(error) || tries >= TRIES_MAX) throw error;
      }
    }
  }

  async #read(node: string, bootID: string): Promise<AttestedNode> {
    const { cluster, namespace } = this.#parts;
    const lease = await cluster.get(LEASES, attestationName(node), namespace);
    const attested = lease === undefined ? undefined : readAttested(lease);
    if (attested?.attestation.bootID === bootID) return attested;
    throw refused(node, `it attests ${attested === undefined ? 'nothing' : `boot ${attested.attestation.bootID}`} now, not boot ${bootID}`);
  }
}

/** Whoever was once eligible stays so: the node may have taken its vouch. */
function wantedOf({ node, attestation, told }: AttestedNode, standing: GrantsEnded | undefined, promised: ReadonlySet<string>): GrantsEnded {
  const peers = [...(standing?.eligible ?? []), ...attestation.peers, ...(told?.peers ?? []).map((peer) => peer.node)];
  const eligible = [...new Set(peers)].filter((peer) => peer !== node);
  const all = new Set([...(standing?.promised ?? []), ...promised]);
  return { bootID: attestation.bootID, eligible, promised: eligible.filter((peer) => all.has(peer)) };
}

function refused(node: string, answered: string): AgentError {
  return new AgentError('Refused', { device: '', plug: '', asked: `to end the grants of node ${node}`, answered });
}

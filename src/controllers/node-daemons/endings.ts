import { nodeAttestedBy, parseGrantsEnded } from '../../domain/node-daemon/attestation.ts';
import type { Lease } from '../../ports/objects.ts';

/** Boots of one node whose ending is remembered; an older one runs nowhere any more. */
const BOOTS_MAX = 16;

/** The boots for which nobody grants any more. What was once ended stays so, whatever becomes of the annotation. */
export class Endings {
  readonly #boots = new Map<string, Set<string>>();
  #readForEpoch: number | undefined;

  remember(node: string, bootID: string): void {
    const boots = this.#boots.get(node) ?? new Set();
    boots.add(bootID);
    const [oldest] = boots;
    if (boots.size > BOOTS_MAX && oldest !== undefined) boots.delete(oldest);
    this.#boots.set(node, boots);
  }

  isEnded(node: string, bootID: string): boolean {
    return this.#boots.get(node)?.has(bootID) === true;
  }

  see(lease: Lease): void {
    const node = nodeAttestedBy(lease.metadata.name);
    const ended = parseGrantsEnded(lease);
    if (node !== undefined && ended !== undefined) this.remember(node, ended.bootID);
  }

  /** All that stood after this replica began to lead, by a consistent read. */
  readAll(leases: Iterable<Lease>, epoch: number): void {
    for (const lease of leases) this.see(lease);
    this.#readForEpoch = epoch;
  }

  areReadFor(epoch: number): boolean {
    return this.#readForEpoch === epoch;
  }
}

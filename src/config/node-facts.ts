import type { Node } from '../ports/objects.ts';
import type { NodeFacts } from './configuration.ts';

const NONE: NodeFacts['labels'] = {};
const NO_ADDRESSES: NodeFacts['addresses'] = [];

/** What of a Node its plan may rest on. */
export function factsOf({ metadata, spec, status }: Node): NodeFacts {
  return {
    name: metadata.name,
    providerID: spec.providerID,
    systemUUID: status.nodeInfo?.systemUUID,
    labels: metadata.labels ?? NONE,
    annotations: metadata.annotations ?? NONE,
    addresses: status.addresses ?? NO_ADDRESSES,
  };
}

/** A node of which only the name is known. */
export function namedOnly(name: string): NodeFacts {
  return { name, labels: {}, annotations: {}, addresses: [] };
}

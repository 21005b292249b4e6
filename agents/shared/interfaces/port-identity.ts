import type { Identity, PortState, Reading } from '../../../src/ports/agents.ts';
import type { Call } from '../call.ts';
import { holdsWords } from '../node-words.ts';
import type { Documentation } from '../parameter-schema.ts';
import { ownPortProblem } from './own-port.ts';
import type { PortView } from './port-view.ts';

const NODE = '{node}';

export const portAliasDocumentation = {
  description:
    'What the description of the port must hold as a whole word, or nothing is switched; `{node}` is replaced by the name of the node. Only a description that names the node verifies whose port it is.',
  aliases: ['port_description'],
} as const satisfies Documentation;

type PortIdentity = { kind: 'verified' } | { kind: 'unverified'; why: string } | { kind: 'other'; why: string };

function checkPortIdentity(description: string | undefined, portAlias: string | undefined, { node }: Identity): PortIdentity {
  if (portAlias === undefined) return { kind: 'unverified', why: 'no port_alias is configured' };
  const wanted = portAlias.replaceAll(NODE, node);
  if (!holdsWords(description ?? '', wanted))
    return { kind: 'other', why: `the description of the port is ${JSON.stringify(description ?? '')} and does not hold the word ${wanted}` };
  if (holdsWords(description ?? '', node)) return { kind: 'verified' };
  return { kind: 'unverified', why: 'the description of the port does not name the node' };
}

/** Why the port can never show that it is the node's. `identity`: absent where the node is not known. */
export function anonymousPort(portAlias: string | undefined, identity: Identity | undefined): string | undefined {
  if (portAlias === undefined) return 'a port shows whose it is by its description only, and port_alias is not given';
  if (identity === undefined || holdsWords(portAlias.replaceAll(NODE, identity.node), identity.node)) return undefined;
  return 'only a description that names the node shows whose the port is, and port_alias does not: write {node} into it';
}

/** A reading of the port. That of another machine is `Misconfigured`; a port that says nothing of itself is no other one. */
export function identified(view: PortView, portAlias: string | undefined, call: Call): Reading<PortState> {
  // A short name or an ifAlias may lead to it.
  const own = ownPortProblem(view.name);
  if (own !== undefined) throw call.error('Misconfigured', `${own}; nothing was sent`);
  const identity = checkPortIdentity(view.description, portAlias, call.target.identity);
  if (identity.kind === 'other' && view.state !== 'unknown') throw call.error('Misconfigured', identity.why);
  const why = identity.kind === 'verified' ? '' : `, identity: ${identity.why}`;
  const { state, boot } = view;
  // An unused port is mostly open, and a mistyped plug may name one: what has no link was not seen open to anybody.
  const isOpenToNobody = identity.kind !== 'verified' && state === 'open' && view.hasLink !== true;
  const reading: Reading<PortState> = {
    state,
    detail: `${view.detail}${why}`,
    identity: identity.kind === 'verified' ? 'verified' : 'unverified',
    ...(isOpenToNobody ? { isOpenInPart: true } : {}),
  };
  return boot === undefined ? reading : { ...reading, boot };
}

/** What must be so right before a set: a port that can be read, and of the right machine. */
export function fitToSet(view: PortView, portAlias: string | undefined, call: Call): void {
  const { state, detail } = identified(view, portAlias, call);
  if (state === 'unknown') throw call.error('Unreachable', `state unknown (${detail}); nothing was sent`);
}

/** What every call for a port needs. */
export const NO_PORT = 'plug is missing: the name of the port';

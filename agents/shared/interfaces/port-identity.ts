import type { Identity } from '../../../src/ports/agents.ts';
import type { Documentation } from '../parameter-schema.ts';

const NODE = '{node}';

export const portAliasDocumentation = {
  description:
    'What the description of the port must hold as a whole word, or nothing is switched; `{node}` stands for the name of the node. Only a description that names the node verifies whose port it is.',
  aliases: ['port_description'],
} as const satisfies Documentation;

export type PortIdentity = { kind: 'verified' } | { kind: 'unverified'; why: string } | { kind: 'other'; why: string };

/** Compares what stands on the port with what the method says, and with the node's name. */
export function checkPortIdentity(description: string | undefined, portAlias: string | undefined, { node }: Identity): PortIdentity {
  if (portAlias === undefined) return { kind: 'unverified', why: 'no port_alias is configured' };
  const wanted = portAlias.replaceAll(NODE, node);
  if (!holds(description ?? '', wanted))
    return { kind: 'other', why: `the description of the port is ${JSON.stringify(description ?? '')} and does not hold the word ${wanted}` };
  if (holds(description ?? '', node)) return { kind: 'verified' };
  return { kind: 'unverified', why: 'the description of the port does not name the node' };
}

function holds(description: string, wanted: string): boolean {
  const words = wordsOf(wanted);
  const found = wordsOf(description);
  return words.length > 0 && found.some((_, at) => words.every((word, offset) => isSame(found[at + offset], word)));
}

function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}._-]+/gu) ?? []).map((word) => word.replace(/^[._-]+|[._-]+$/g, '')).filter((word) => word !== '');
}

/** A short host name is the same as a long one that begins with it; two long ones must be equal. */
function isSame(found: string | undefined, word: string): boolean {
  if (found === undefined) return false;
  if (found.includes('.') && word.includes('.')) return found === word;
  return found === word || found.split('.')[0] === word || found === word.split('.')[0];
}

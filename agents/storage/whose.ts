import { parseAddress } from '../../src/domain/addresses/network.ts';
import type { Identity } from '../../src/ports/agents.ts';
import { holdsWords } from '../shared/node-words.ts';
import { placeholdersIn, type Placeholders } from './template.ts';

interface Templates {
  close: string;
  closedMatch: string;
  openMatch: string;
}

/**
 * Why nothing shows whom the commands shut out; undefined: what stands for one placeholder of the close_command and of the lines that are looked for is an address
 * of the Node, or holds its name as a word. A mistyped client, which nobody is, reads as shut out as well.
 */
export function whyAnonymous(templates: Templates, placeholders: Placeholders, { node, addresses = [] }: Identity): string | undefined {
  const looked = [...placeholdersIn(templates.openMatch), ...placeholdersIn(templates.closedMatch)];
  const shared = placeholdersIn(templates.close).filter((name) => name !== 'target' && looked.includes(name));
  if (shared.some((name) => isOf(placeholders[name] ?? '', node, addresses))) return undefined;
  const what =
    shared.length === 0
      ? 'no %client%, %plug% or %node% stands in both close_command and the lines'
      : `${shared.join(' and ')} is none of its addresses, and does not hold its name`;
  return `nothing shows that node ${node} is shut out: ${what}`;
}

function isOf(value: string, node: string, addresses: readonly string[]): boolean {
  if (holdsWords(value, node)) return true;
  const own = addresses.flatMap((address) => parseAddress(address) ?? []);
  return addressesIn(value).some((address) => own.some(({ family, value: number }) => family === address.family && number === address.value));
}

/** The whole of it, or what stands before the first colon or slash: `10.0.0.5:vol1`. */
function addressesIn(value: string): NonNullable<ReturnType<typeof parseAddress>>[] {
  return [value, value.replace(/[:/].*$/, '')].flatMap((text) => parseAddress(text) ?? []);
}

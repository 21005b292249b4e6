import type { Column, Command, Family } from './family.ts';

/** One outlet of a device: where it stands in the tables. */
export interface Outlet {
  index: string;
  /** Its numbers from the left, as people count them: outlet, unit and outlet, or unit, bank and outlet. Empty while not known (`{row}`). */
  path: readonly number[];
}

/** What a plug may be: numbers, the last of them the outlet's, or the name that the device keeps. */
export type Plug = { kind: 'numbers'; numbers: readonly number[] } | { kind: 'name'; name: string };

const NUMBERS = /^\d{1,5}(?:[/:]\d{1,5}){0,2}$/;
const PART = /\{(unit|bank|outlet|row)\}/g;

/** `3`, `1/3`, `1/2/3` (also with `:`), else a name. `unit`: given apart from the plug, as ClusterLabs' `switch` is. */
export function parsePlug(text: string, unit: number | undefined): Plug {
  const trimmed = text.trim();
  if (!NUMBERS.test(trimmed)) return { kind: 'name', name: trimmed };
  const numbers = trimmed.split(/[/:]/).map(Number);
  return { kind: 'numbers', numbers: unit !== undefined && numbers.length === 1 ? [unit, ...numbers] : numbers };
}

function partsOf(family: Family): string[] {
  return [...family.index.matchAll(PART)].map(([, part]) => part ?? '');
}

/** The outlet that the numbers name by themselves: where they are as many as the index has and no table has to be asked. */
export function outletOf(family: Family, numbers: readonly number[]): Outlet | undefined {
  if (family.chain !== undefined || family.countsFromFirst === true || numbers.length !== partsOf(family).length) return undefined;
  return { index: indexOf(family, numbers), path: numbers };
}

/** The row of outlet 1, where a device has no units. */
export function firstRow(family: Family): string {
  return indexOf(family, [1]);
}

function indexOf(family: Family, path: readonly number[]): string {
  const rest = [...path];
  return family.index.replace(PART, (_all, part) => {
    const number = rest.shift() ?? 0;
    return String(part === 'outlet' ? number - 1 + (family.outletsFrom ?? 1) : number);
  });
}

/** Reads the index of a row; undefined for one that is made in another way. */
export function outletAt(family: Family, index: string): Outlet | undefined {
  const pattern = family.index.replaceAll('.', '\\.').replace(PART, '(\\d+)');
  const found = new RegExp(`^${pattern}$`).exec(index);
  if (found === null) return undefined;
  const parts = partsOf(family);
  const numbers = found.slice(1).map((text, place) => Number(text) + (parts[place] === 'outlet' ? 1 - (family.outletsFrom ?? 1) : 0));
  return { index, path: parts.includes('row') ? [] : numbers };
}

/** Is it the outlet that these numbers mean? Fewer numbers than it has leave out those on the left. */
export function isMeant({ path }: Outlet, numbers: readonly number[]): boolean {
  return path.length >= numbers.length && numbers.every((number, place) => path[path.length - numbers.length + place] === number);
}

export function spelled({ path, index }: Outlet): string {
  return path.length === 0 ? `row ${index}` : path.join('/');
}

/** The whole name of a column's instance for an outlet. */
export function nameIn({ root, suffix, instanceOf }: Column, { index, path }: Outlet): string {
  return `${root}.${instanceOf?.(path.at(-1) ?? 0) ?? index}${suffix ?? ''}`;
}

/** Where the command for an outlet is written. */
export function commandOid(family: Family, command: Command, outlet: Outlet): string {
  if (command.instanceOf !== undefined) return `${command.root}.${command.instanceOf(outlet.path.at(-1) ?? 0)}`;
  if (command.shift === undefined) return `${command.root}.${outlet.index}`;
  const shifted = outlet.path.map((number, place) => (place === outlet.path.length - 1 ? number + (command.shift ?? 0) : number));
  return `${command.root}.${indexOf(family, shifted)}`;
}

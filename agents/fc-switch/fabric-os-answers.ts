import type { PortState } from '../../src/ports/agents.ts';

/** What Fabric OS prints, word for word: nothing that is not exactly known is taken for a state. */
export interface FosPort {
  /** The column State of `switchshow`: `Online`, `No_Light`. */
  link: string;
  /** `switchshow` says `Disabled`. */
  isDisabled: boolean;
  row: string;
}

const TITLE = /^\s*Index\s+(Slot\s+)?Port\s+Address\s+Media\s+Speed\s+State\s+Proto\b/;
const PERSISTENT = /^\s*Persistent Disable\s+(ON|OFF)\s*$/;
/** Nothing passes a port in these. */
const DARK: ReadonlySet<string> = new Set(['No_Card', 'No_Module', 'No_Light', 'No_Sync', 'In_Sync', 'No_SigDet', 'Offline']);
const KNOWN: ReadonlySet<string> = new Set([...DARK, 'Online', 'Laser_Flt', 'Port_Flt', 'Diag_Flt', 'Mod_Val', 'Mod_Inv', 'Lock_Ref', 'Faulty']);

/** The row of the port, `7` or `slot/7`; undefined where there is none, or more than one. */
export function portOfSwitchShow(lines: readonly string[], plug: string): FosPort | undefined {
  const title = lines.findIndex((line) => TITLE.test(line));
  if (title < 0) return undefined;
  const hasSlots = TITLE.exec(lines[title] ?? '')?.[1] !== undefined;
  const rows = lines.slice(title + 1).filter((line) => nameOf(line, hasSlots) === plug);
  const [row] = rows;
  if (row === undefined || rows.length > 1) return undefined;
  const words = row.trim().split(/\s+/);
  // Index, (Slot,) Port, Address, Media, Speed, State, Proto, and then what is to be said of it.
  const [link = '', proto, ...rest] = words.slice(hasSlots ? 6 : 5);
  if (proto === undefined) return undefined;
  return { link, isDisabled: rest[0] === 'Disabled', row: words.slice(hasSlots ? 6 : 5).join(' ') };
}

/** `Persistent Disable` of `portcfgshow <port>`; undefined where it is not said exactly once. */
export function isPersistentlyDisabled(lines: readonly string[]): boolean | undefined {
  const found = lines.map((line) => PERSISTENT.exec(line)?.[1]).filter((word) => word !== undefined);
  return found.length === 1 ? found[0] === 'ON' : undefined;
}

/** The name that people gave the port, from `portshow <port>`. */
export function nameOfPortShow(lines: readonly string[]): string | undefined {
  return lines.map((line) => /^portName:\s*(.*?)\s*$/.exec(line)?.[1]).find((name) => name !== undefined);
}

/**
 * Closed is disabled now and after a restart of the switch, and dark. Disabled but not for good, or for good but not yet, is pending. Anything else
 * that is known is open, with light or without.
 */
export function stateOfFos(port: FosPort | undefined, isPersistent: boolean | undefined): PortState {
  if (port === undefined || isPersistent === undefined || !KNOWN.has(port.link)) return 'unknown';
  if (!port.isDisabled && !isPersistent) return 'open';
  return port.isDisabled && isPersistent && DARK.has(port.link) ? 'closed' : 'pending';
}

function nameOf(line: string, hasSlots: boolean): string | undefined {
  const [index, second, third] = line.trim().split(/\s+/);
  if (!/^\d+$/.test(index ?? '')) return undefined;
  return hasSlots ? `${second ?? ''}/${third ?? ''}` : second;
}

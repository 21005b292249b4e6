import { portState } from './port-view.ts';
import type { PortView } from './port-view.ts';

/** A Fibre Channel port that carries several VSANs, as one to a host in NPV mode may, is `trunking` where others are up. */
const HEAD = /^(\S+) is (up|down|trunking)(?: \(([^)]*)\))?\s*$/;
const ADMIN = /^\s*admin state is (up|down)(?:,.*)?\s*$/;
const DESCRIPTION = /^\s*(?:Port description is|Description:) (.*?)\s*$/;
/** Fibre channel ports and old releases say it only behind the state. */
const SHUT = 'Administratively down';
const WITHOUT = /^(?:SFP|XCVR) not (?:inserted|present)$/;

/** The port in what `show interface <port>` of NX-OS printed; undefined where it is no such answer. */
export function portOfNxos(lines: readonly string[]): PortView | undefined {
  const [head, ...others] = lines.map((line) => HEAD.exec(line)).filter((found) => found !== null);
  if (head === undefined || others.length > 0) return undefined;
  const [text, name = '', oper, why = ''] = head;
  const admins = lines.map((line) => ADMIN.exec(line)?.[1]).filter((word) => word !== undefined);
  const said = admins.length > 1 ? undefined : (admins[0] ?? (why === SHUT ? 'down' : 'up'));
  // Two lines that contradict each other say nothing.
  const isEven = said === 'up' ? why !== SHUT : oper !== 'down' || why === SHUT || WITHOUT.test(why);
  const admin = said === 'up' || said === 'down' ? (isEven ? said : undefined) : undefined;
  const operStatus = oper !== 'down' ? 'up' : WITHOUT.test(why) ? 'notPresent' : 'down';
  return {
    name,
    description: lines.map((line) => DESCRIPTION.exec(line)?.[1]).find((found) => found !== undefined),
    state: portState(admin, operStatus),
    hasLink: operStatus === 'up',
    detail: `${text.trim()}${admins.length === 0 ? '' : `, admin state is ${admins.join(' and ')}`}`,
  };
}

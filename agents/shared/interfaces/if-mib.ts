import type { Outcome, PlugEntry } from '../../../src/ports/agents.ts';
import type { Call, CallTarget } from '../call.ts';
import type { SnmpClient } from '../snmp/client.ts';
import { describeValue, integerOf, textOf } from '../snmp/value.ts';
import { portState } from './port-view.ts';
import type { AdminStatus, OperStatus, PortView } from './port-view.ts';

/** Columns of ifTable and ifXTable (RFC 2863), without the index. */
const IF_DESCR = '1.3.6.1.2.1.2.2.1.2';
const IF_ADMIN_STATUS = '1.3.6.1.2.1.2.2.1.7';
const IF_OPER_STATUS = '1.3.6.1.2.1.2.2.1.8';
const IF_NAME = '1.3.6.1.2.1.31.1.1.1.1';
const IF_ALIAS = '1.3.6.1.2.1.31.1.1.1.18';
const ADMIN_WORDS: Readonly<Record<number, AdminStatus>> = { 1: 'up', 2: 'down', 3: 'testing' };
const OPER_WORDS: Readonly<Record<number, OperStatus>> = {
  1: 'up',
  2: 'down',
  3: 'testing',
  4: 'unknown',
  5: 'dormant',
  6: 'notPresent',
  7: 'lowerLayerDown',
};
const PORTS_MAX = 10_000;
const LISTED_MAX = 1_000;

/** What a port is found by. `any`: its ifName, else its ifDescr; an ifAlias is found by only where that is asked for, people write anything there. */
export type NameKind = 'any' | 'ifname' | 'ifdescr' | 'ifalias';
const COLUMNS: Readonly<Record<NameKind, readonly string[]>> = {
  any: [IF_NAME, IF_DESCR],
  ifname: [IF_NAME],
  ifdescr: [IF_DESCR],
  ifalias: [IF_ALIAS],
};

/** One port, found anew: a switch that restarted may have given its index to another one. */
export interface FoundPort extends PortView {
  index: string;
}

/** How a port is found, and how long the device may take to start. */
export interface PortSearch {
  kind: NameKind;
  bootMaxMs: number;
}

/**
 * Finds the port and reads it, with the name that it was found by in the same answer as its state. Rejects with `AgentError`: `Misconfigured`
 * when no port or more than one has the name.
 */
export async function readPort(client: SnmpClient, call: Call<CallTarget>, name: string, { kind, bootMaxMs }: PortSearch): Promise<FoundPort> {
  const { index, column } = await find(client, call, name, kind);
  const columns = [column, IF_ADMIN_STATUS, IF_OPER_STATUS, IF_ALIAS, IF_NAME];
  const names = columns.map((one) => `${one}.${index}`);
  const { values, boot } = await client.getWithBoot(call, names, bootMaxMs);
  const [shown, admin, oper, alias, ifName] = values;
  if (textOf(shown) !== name)
    throw call.error('Unreachable', `port ${index} was ${name}, and is ${describeValue(shown)} in the next answer: the switch is changing its ports`);
  return {
    index,
    name: textOf(ifName) ?? name,
    description: textOf(alias),
    state: portState(ADMIN_WORDS[integerOf(admin) ?? 0], OPER_WORDS[integerOf(oper) ?? 0]),
    hasLink: OPER_WORDS[integerOf(oper) ?? 0] === 'up',
    detail: `${textOf(ifName) ?? name} ifIndex=${index} ifAdminStatus=${worded(ADMIN_WORDS, integerOf(admin), describeValue(admin))} ifOperStatus=${worded(OPER_WORDS, integerOf(oper), describeValue(oper))}`,
    ...(boot !== undefined && { boot }),
  };
}

/** Sets ifAdminStatus of a port that was just found. Sent once. */
export async function setPort(
  client: SnmpClient,
  call: Call<CallTarget>,
  { index }: FoundPort,
  wanted: 'open' | 'closed',
  beforeSend: () => void,
): Promise<Outcome> {
  return client.set(call, [{ oid: `${IF_ADMIN_STATUS}.${index}`, integer: wanted === 'open' ? 1 : 2 }], beforeSend);
}

/** Every port by its ifName, with its ifAlias and its state. */
export async function listPorts(client: SnmpClient, call: Call<CallTarget>): Promise<PlugEntry[]> {
  const column = async (oid: string) => new Map((await client.walk(call, oid, PORTS_MAX)).map(({ index, value }) => [index, value]));
  const names = await column(IF_NAME);
  const [aliases, admins, opers] = [await column(IF_ALIAS), await column(IF_ADMIN_STATUS), await column(IF_OPER_STATUS)];
  return [...names].slice(0, LISTED_MAX).map(([index, name]) => {
    const alias = textOf(aliases.get(index)) ?? '';
    return {
      plug: textOf(name) ?? '',
      ...(alias === '' ? {} : { alias }),
      state: portState(ADMIN_WORDS[integerOf(admins.get(index)) ?? 0], OPER_WORDS[integerOf(opers.get(index)) ?? 0]),
    };
  });
}

async function find(client: SnmpClient, call: Call<CallTarget>, name: string, kind: NameKind): Promise<{ index: string; column: string }> {
  for (const column of COLUMNS[kind]) {
    const rows = await client.walk(call, column, PORTS_MAX);
    const found = rows.filter(({ value }) => textOf(value) === name);
    const [one, ...others] = found;
    if (others.length > 0)
      throw call.error('Misconfigured', `${found.length} ports are named ${name}: ifIndex ${found.map(({ index }) => index).join(', ')}`);
    if (one !== undefined) return { index: one.index, column };
  }
  throw call.error('Misconfigured', `no port is named ${name} (${kind === 'any' ? 'ifName or ifDescr' : kind}, letters as the switch writes them)`);
}

function worded<T extends string>(words: Readonly<Record<number, T>>, integer: number | undefined, otherwise: string): string {
  return integer === undefined ? otherwise : `${words[integer] ?? 'no known state'}(${integer})`;
}

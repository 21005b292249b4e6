import type { DeviceBoot, PlugEntry } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { ANY_ADDRESS, type AddressCheck } from '../shared/address/address-check.ts';
import type { Call } from '../shared/call.ts';
import { SnmpClient, type SnmpRow } from '../shared/snmp/client.ts';
import { integerOf, describeValue, textOf } from '../shared/snmp/value.ts';
import { FAMILIES } from './families.ts';
import type { Column, Family } from './family.ts';
import { look, meaningOf, namesOf, together, type Known, type Look } from './look.ts';
import { firstRow, isMeant, outletAt, outletOf, spelled, type Outlet, type Plug } from './outlet.ts';
import type { PduSettings } from './parameters.ts';
import { REFUSED } from './refused.ts';

const SYS_OBJECT_ID = '1.3.6.1.2.1.1.2.0';
const SYS_DESCR = '1.3.6.1.2.1.1.1.0';
/** No chain of units has more; Raritan's table of sensors has several rows for each outlet. */
const ROWS_MAX = 5_000;
/** As many plugs as a list may have. */
const LISTED_MAX = 1_000;
/** So many plugs are named in an error, so many found ones are remembered. */
const NAMED_MAX = 50;
const REMEMBERED_MAX = 1_000;

export interface Found {
  family: Family;
  outlet: Outlet;
  known: Known;
}

/** What one look at an outlet came to. */
interface Looked {
  found: Found;
  look: Look;
  /** Undefined where the device does not tell how long it has been up. */
  boot: DeviceBoot | undefined;
}

/** One PDU under one login: its SNMP session, its family, and where its outlets were found. */
export class Pdu {
  readonly #client: SnmpClient;
  readonly #familyName: string | undefined;
  #family: Family | undefined;
  readonly #found = new Map<string, Found>();

  constructor({ snmp, family }: Pick<PduSettings, 'snmp' | 'family'>, clock: Clock, check: AddressCheck = ANY_ADDRESS) {
    this.#client = new SnmpClient(snmp, clock, check);
    this.#familyName = family;
  }

  get client(): SnmpClient {
    return this.#client;
  }

  /** One honest look at the outlet that the plug means now: where it stands is verified in the answer that tells its state. */
  async look(call: Call, plug: Plug, { witness, bootMaxMs }: Pick<PduSettings, 'witness' | 'bootMaxMs'>): Promise<Looked> {
    for (let isSecond = false; ; isSecond = true) {
      const key = JSON.stringify(plug);
      const found = this.#found.get(key) ?? (await this.#locate(call, plug));
      const { values, boot } = await this.#client.getWithBoot(call, namesOf(found.family, found.outlet, found.known), bootMaxMs);
      const shown = look(found.family, found.outlet, values, found.known, witness);
      if (shown === undefined) {
        const { name } = found.family.state;
        throw call.error('Misconfigured', `${found.family.title} has no outlet ${describePlug(plug)}: ${name}.${found.outlet.index} is missing`);
      }
      if (plug.kind === 'numbers' && shown.number !== undefined && shown.number !== plug.numbers.at(-1))
        throw call.error(
          'Misconfigured',
          `${found.family.title}: row ${found.outlet.index} is of outlet ${shown.number}, and ${describePlug(plug)} is meant`,
        );
      if (isStill(shown, found, plug)) {
        this.#remember(key, found);
        return { found, look: shown, boot };
      }
      this.#found.delete(key);
      if (isSecond) throw call.error('Unreachable', `the tables of outlets change while they are read: outlet ${describePlug(plug)}`);
    }
  }

  async list(call: Call): Promise<PlugEntry[]> {
    const family = await this.#familyOf(call);
    const table = await this.#table(call, family);
    if (table.length === 0)
      throw call.error(
        'Misconfigured',
        `the device has no outlets of ${family.name} (${family.title}): it meters and does not switch, or the account may not see them`,
      );
    return table.slice(0, LISTED_MAX).map(({ outlet, label, value, second }) => {
      const seen = meaningOf(family.state, value);
      const state = family.also === undefined || second === undefined ? seen : together(seen, family.also, second);
      return { plug: spelled(outlet), state, ...(label === undefined || label === '' ? {} : { alias: label }) };
    });
  }

  /** Outlets of this name but the one that was found. */
  async namesakes(call: Call, { family, outlet }: Found, name: string): Promise<Outlet[]> {
    const table = family.label === undefined ? [] : await this.#table(call, family);
    return table.flatMap((row) => (row.label === name && row.outlet.index !== outlet.index ? [row.outlet] : []));
  }

  async close(): Promise<void> {
    this.#family = undefined;
    this.#found.clear();
    await this.#client.close();
  }

  #remember(key: string, found: Found): void {
    if (this.#found.size >= REMEMBERED_MAX) this.#found.clear();
    this.#found.set(key, found);
  }

  async #familyOf(call: Call): Promise<Family> {
    this.#family ??= await this.#settled(call, FAMILIES.find(({ name }) => name === this.#familyName) ?? (await this.#detect(call)));
    return this.#family;
  }

  /** The family as this device has it, where only the device tells below which arc, or with which row, a table of it begins. */
  async #settled(call: Call, family: Family): Promise<Family> {
    const [root = ''] = family.sysObjectIds;
    const [id] = family.ofModel === undefined ? [] : await this.#client.get(call, [SYS_OBJECT_ID]);
    const arc = id?.kind === 'oid' && id.oid.startsWith(`${root}.`) ? id.oid.slice(root.length + 1).split('.')[0] : undefined;
    if (family.ofModel !== undefined && arc === undefined)
      throw call.error('Misconfigured', `${family.title}: sysObjectID ${describeValue(id)} does not say which model it is, below ${root}`);
    const own = family.ofModel?.(arc ?? '') ?? family;
    if (own.current?.isFromZeroOrOne !== true) return own;
    const { current } = own;
    const [rows = []] = await this.#client.columns(call, [current.root], ROWS_MAX);
    return rows.some(({ index }) => index === '0') ? { ...own, current: fromZero(current) } : own;
  }

  /** By sysObjectID, the longest that is known; where several families share it, the first that the device has outlets of. */
  async #detect(call: Call): Promise<Family> {
    const [id, description] = await this.#client.get(call, [SYS_OBJECT_ID, SYS_DESCR]);
    const shown = id?.kind === 'oid' ? id.oid : '';
    const length = ({ sysObjectIds }: Family): number =>
      Math.max(0, ...sysObjectIds.filter((known) => shown === known || shown.startsWith(`${known}.`)).map((known) => known.length));
    const longest = Math.max(...FAMILIES.map(length));
    const candidates = longest === 0 ? [] : FAMILIES.filter((family) => length(family) === longest);
    const message = `sysObjectID ${describeValue(id)} (sysDescr ${describeValue(description)})`;
    const refused = REFUSED.find(({ sysObjectId }) => shown === sysObjectId || shown.startsWith(`${sysObjectId}.`));
    if (candidates.length === 0 && refused !== undefined)
      throw call.error('Misconfigured', `${refused.title}, ${message}, is not switched: ${refused.why}`);
    if (candidates.length === 0) {
      throw call.error('Misconfigured', `no PDU is known that shows ${message}; give family= one of ${FAMILIES.map(({ name }) => name).join(', ')}`);
    }
    const [only] = candidates;
    if (candidates.length === 1 && only !== undefined) return only;
    const present = await this.#client.present(
      call,
      candidates.map(({ state }) => state.root),
    );
    const first = candidates.find((_family, place) => present[place]);
    if (first !== undefined) return first;
    throw call.error(
      'Misconfigured',
      `the device with ${message} has no outlets of ${candidates.map(({ name }) => name).join(', ')}: it cannot switch`,
    );
  }

  async #locate(call: Call, plug: Plug): Promise<Found> {
    const family = await this.#familyOf(call);
    const known: Known = new Set();
    const direct = plug.kind === 'numbers' ? outletOf(family, plug.numbers) : undefined;
    if (direct !== undefined) return { family, outlet: direct, known };
    const table = await this.#table(call, family);
    const matches = table.filter(({ outlet, label }) => (plug.kind === 'numbers' ? isMeant(outlet, plug.numbers) : label === plug.name));
    const [match] = matches;
    if (matches.length === 1 && match !== undefined) return { family, outlet: match.outlet, known };
    if (plug.kind === 'numbers' && table.length > 0 && table.every(({ outlet }) => outlet.path.length === 0 && family.countsFromFirst === true)) {
      const row = `row ${firstRow(family)}, which is outlet 1 on every one that is known`;
      throw call.error(
        'Misconfigured',
        `${family.title} has no ${row}: which outlet ${describePlug(plug)} is, is not told; write a name: ${inShort(table)}`,
      );
    }
    const message =
      matches.length === 0
        ? `no outlet ${describePlug(plug)}; it has ${inShort(table)}`
        : `${matches.length} outlets ${describePlug(plug)}: ${inShort(matches)}`;
    throw call.error('Misconfigured', `${family.title} has ${message}`);
  }

  /** Every outlet with what the device says of it in tables. */
  async #table(call: Call, family: Family): Promise<Row[]> {
    const { state, chain, label } = family;
    // One that is no column of the table is left to the looks at single outlets.
    const also = family.also?.instanceOf === undefined ? family.also : undefined;
    const columns = [state, state.fallback, chain?.unit, chain?.number, label, also].map((column) => column ?? state);
    const asked = [...new Set(columns)];
    const answers = await this.#client.columns(
      call,
      asked.map(({ root }) => root),
      ROWS_MAX,
    );
    const tables = columns.map((column) => byIndex(column, answers[asked.indexOf(column)] ?? []));
    const [own, fallback, units, numbers, labels, seconds] = tables;
    const rows = [...(own === undefined || own.size === 0 ? (fallback ?? []) : own)];
    const isCounted = family.countsFromFirst !== true || rows.some(([index]) => index === firstRow(family));
    return rows.flatMap(([index, row]) => {
      const outlet = isCounted ? outletAt(family, index) : { index, path: [] };
      if (outlet === undefined) return [];
      const path = [units, numbers].map((table) => integerOf(table?.get(index)?.value)).filter((number) => number !== undefined);
      return [
        {
          outlet: chain === undefined ? outlet : { index, path },
          value: integerOf(row.value),
          label: label === undefined ? undefined : textOf(labels?.get(index)?.value),
          second: also === undefined ? undefined : integerOf(seconds?.get(index)?.value),
        },
      ];
    });
  }
}

function fromZero(current: NonNullable<Family['current']>): NonNullable<Family['current']> {
  const instanceOf = (outlet: number): string => String(outlet - 1);
  return { ...current, instanceOf, ...(current.valid !== undefined && { valid: { ...current.valid, instanceOf } }) };
}

interface Row {
  outlet: Outlet;
  value: number | undefined;
  label: string | undefined;
  second: number | undefined;
}

function byIndex({ suffix = '' }: Column, rows: readonly SnmpRow[]): Map<string, SnmpRow> {
  return new Map(rows.filter(({ index }) => index.endsWith(suffix)).map((row) => [row.index.slice(0, row.index.length - suffix.length), row]));
}

function inShort(table: readonly Row[]): string {
  if (table.length === 0) return 'none';
  const names = table
    .slice(0, NAMED_MAX)
    .map(({ outlet, label }) => spelled(outlet) + (label === undefined || label === '' ? '' : ` ${JSON.stringify(label)}`));
  return names.join(', ') + (table.length > NAMED_MAX ? ', ...' : '');
}

/** Is the row still that of the plug? Names are changed by people, rows of a chain by the order in which units come up. */
function isStill(shown: Look, { outlet }: Found, plug: Plug): boolean {
  if (plug.kind === 'name' && shown.label !== plug.name) return false;
  if (shown.chain === undefined) return true;
  const { unit, number } = shown.chain;
  return number === outlet.path.at(-1) && (outlet.path.length < 2 || unit === outlet.path.at(-2));
}

function describePlug(plug: Plug): string {
  return plug.kind === 'name' ? `named ${JSON.stringify(plug.name)}` : plug.numbers.join('/');
}

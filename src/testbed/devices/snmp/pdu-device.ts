import type { Clock } from '../../../ports/clock.ts';
import { STATUS } from './message.ts';
import { Outlets, type Outlet, type OutletFaults } from './outlets.ts';
import { PDU_KINDS, type Meaning, type PduKind, type Shown } from './pdu-kinds.ts';
import { SnmpDevice, type SnmpFaults } from './snmp-device.ts';
import { Tree } from './tree.ts';

const ENTERPRISES = '1.3.6.1.4.1';
const SYSTEM = '1.3.6.1.2.1.1';

export interface PduDeviceOptions {
  /** A name of `PDU_KINDS`. */
  kind: string;
  clock: Clock;
  outlets: readonly (Partial<Outlet> & { number: number })[];
  isOn?: boolean;
  readCommunity?: string;
  writeCommunity?: string;
  faults?: SnmpFaults;
}

/** A rack PDU on loopback: an SNMP agent in front of outlets that really switch, or do not. */
export class PduDevice {
  readonly outlets: Outlets;
  readonly #commands: CommandTable;
  readonly #snmp: SnmpDevice;

  private constructor(outlets: Outlets, commands: CommandTable, snmp: SnmpDevice) {
    this.outlets = outlets;
    this.#commands = commands;
    this.#snmp = snmp;
  }

  static async start({ kind, clock, isOn = true, writeCommunity = 'private', ...options }: PduDeviceOptions): Promise<PduDevice> {
    const known = PDU_KINDS[kind];
    if (known === undefined) throw new Error(`no kind of PDU is named ${kind}`);
    const all = options.outlets.map(({ number, unit = 1, bank = 1, name = `Outlet ${number}`, faults = {}, ...more }) => ({
      number,
      unit,
      bank,
      name,
      faults,
      ...more,
    }));
    const outlets = new Outlets(clock, all, isOn);
    const commands: CommandTable = new Map();
    const tree = treeOf(known, outlets, commands);
    const { readCommunity, faults } = options;
    const snmp = await SnmpDevice.start({
      tree,
      clock,
      writeCommunity,
      ...(readCommunity === undefined ? {} : { readCommunity }),
      ...(faults === undefined ? {} : { faults }),
    });
    return new PduDevice(outlets, commands, snmp);
  }

  get port(): number {
    return this.#snmp.port;
  }

  get faults(): SnmpFaults {
    return this.#snmp.faults;
  }

  set faults(faults: SnmpFaults) {
    this.#snmp.faults = faults;
  }

  /** Datagrams that have come. */
  get requests(): number {
    return this.#snmp.requests;
  }

  /** Every command that came, oldest first, also those that were refused or ignored. */
  get commands(): { outlet: Outlet; wanted: 'on' | 'off' | 'other' }[] {
    return this.#snmp.sets.flatMap(({ oid, integer }) => {
      const command = this.#commands.get(oid);
      return command === undefined ? [] : [{ outlet: command.outlet, wanted: command.means(integer ?? -2) ?? 'other' }];
    });
  }

  /** The outlet of this number; of the first unit that has one. */
  outlet(number: number): Outlet {
    const found = this.outlets.all.find((outlet) => outlet.number === number);
    if (found === undefined) throw new Error(`no outlet ${number}`);
    return found;
  }

  breakOutlet(number: number, faults: OutletFaults): void {
    this.outlet(number).faults = faults;
  }

  async close(): Promise<void> {
    this.outlets.close();
    await this.#snmp.close();
  }
}

type CommandTable = Map<string, { outlet: Outlet; means: Meaning }>;

function treeOf(kind: PduKind, outlets: Outlets, table: CommandTable): Tree {
  const tree = new Tree();
  tree.put(`${SYSTEM}.1.0`, { read: () => ({ text: kind.description }) });
  tree.put(`${SYSTEM}.2.0`, { read: () => ({ oid: kind.sysObjectId }) });
  tree.put(`${SYSTEM}.3.0`, { read: () => ({ integer: Math.floor(outlets.upMs / 10) }) });
  for (const [place, outlet] of outlets.all.entries()) {
    const index = kind.index(outlet, place + 1);
    for (const [column, value] of Object.entries(kind.columns)) {
      tree.put(`${ENTERPRISES}.${column}.${index}`, {
        read: () => {
          const { shows, showsElsewhere } = outlet.faults;
          if (column === kind.second && showsElsewhere !== undefined) return { integer: showsElsewhere };
          if (column === kind.state && shows !== undefined) return shows === null ? undefined : { integer: shows };
          return value(outlet, shownOf(outlets, outlet));
        },
      });
    }
    for (const [column, { of, shows }] of Object.entries(kind.cells ?? {})) {
      tree.put(`${ENTERPRISES}.${column}.${of(outlet)}`, {
        read: () => {
          const { showsElsewhere } = outlet.faults;
          return column === kind.second && showsElsewhere !== undefined ? { integer: showsElsewhere } : shows(outlet, shownOf(outlets, outlet));
        },
      });
    }
    for (const [column, { of, means }] of Object.entries(kind.commands)) {
      const oid = `${ENTERPRISES}.${column}.${of?.(outlet) ?? index}`;
      const shown = tree.at(oid);
      table.set(oid, { outlet, means });
      tree.put(oid, { read: () => shown?.read() ?? { integer: 0 }, set: (value) => commanded(outlets, outlet, means(value)) });
    }
  }
  return tree;
}

function shownOf(outlets: Outlets, outlet: Outlet): Shown {
  return {
    isOn: outlets.shows(outlet),
    wasTold: outlets.told(outlet),
    pending: outlets.pending(outlet),
    milliamperes: outlets.milliamperes(outlet),
  };
}

function commanded(outlets: Outlets, outlet: Outlet, wanted: ReturnType<Meaning>): number {
  if (wanted === undefined) return STATUS.wrongValue;
  outlets.command(outlet, wanted);
  return STATUS.noError;
}

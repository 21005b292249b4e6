import { MemoryMachine } from './power-backend.ts';
import type { ResourceTree } from './tree.ts';

export const POWER_EQUIPMENT = '/redfish/v1/PowerEquipment';

export interface OutletOptions {
  id: string;
  name?: string;
  /** What its users call it. */
  label?: string;
  isLocked?: boolean;
  /** Measures its current. */
  isMetered?: boolean;
  /** False: a plain outlet, which nobody switches. */
  isSwitched?: boolean;
}

function link(path: string): { '@odata.id': string } {
  return { '@odata.id': path };
}

function collection(path: string, members: readonly string[]): Record<string, unknown> {
  return { '@odata.id': path, 'Members@odata.count': members.length, Members: members.map(link) };
}

export function outletPath(pdu: string, id: string): string {
  return `${POWER_EQUIPMENT}/RackPDUs/${pdu}/Outlets/${id}`;
}

function outlet(path: string, options: OutletOptions): Record<string, unknown> {
  // As in the example of DSP2046, the target is not where other resources would have it.
  const control = {
    '#Outlet.PowerControl': { target: `${path}/Outlet.PowerControl`, 'PowerState@Redfish.AllowableValues': ['On', 'Off', 'PowerCycle'] },
  };
  return {
    '@odata.type': '#Outlet.v1_4_4.Outlet',
    '@odata.id': path,
    Id: options.id,
    Name: options.name ?? `Outlet ${options.id}`,
    ...(options.label === undefined ? {} : { UserLabel: options.label }),
    PowerState: 'On',
    PowerControlLocked: options.isLocked === true,
    ...(options.isMetered === true ? { CurrentAmps: { Reading: 0 } } : {}),
    Actions: options.isSwitched === false ? {} : control,
  };
}

/** Rack PDUs and their outlets, as DMTF's PowerEquipment describes them; the service root has to link to them. */
export function pduTree(pdus: Readonly<Record<string, readonly OutletOptions[]>>): Record<string, ResourceTree[string]> {
  const racks = `${POWER_EQUIPMENT}/RackPDUs`;
  const tree: Record<string, ResourceTree[string]> = {
    [POWER_EQUIPMENT]: { '@odata.id': POWER_EQUIPMENT, RackPDUs: link(racks) },
    [racks]: collection(
      racks,
      Object.keys(pdus).map((pdu) => `${racks}/${pdu}`),
    ),
  };
  for (const [pdu, outlets] of Object.entries(pdus)) {
    tree[`${racks}/${pdu}`] = { '@odata.id': `${racks}/${pdu}`, Id: pdu, EquipmentType: 'RackPDU', Outlets: link(`${racks}/${pdu}/Outlets`) };
    tree[`${racks}/${pdu}/Outlets`] = collection(
      `${racks}/${pdu}/Outlets`,
      outlets.map(({ id }) => outletPath(pdu, id)),
    );
    for (const each of outlets) tree[outletPath(pdu, each.id)] = outlet(outletPath(pdu, each.id), each);
  }
  return tree;
}

/** A machine behind each outlet, by its path. */
export function outletMachines(pdus: Readonly<Record<string, readonly OutletOptions[]>>, state?: 'on' | 'off'): Record<string, MemoryMachine> {
  const paths = Object.entries(pdus).flatMap(([pdu, outlets]) => outlets.map(({ id }) => outletPath(pdu, id)));
  return Object.fromEntries(paths.map((path) => [path, new MemoryMachine(state)]));
}

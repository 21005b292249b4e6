/** Resources of a BMC by path; PowerState is filled in when one is served. */
export type ResourceTree = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export const STANDARD_RESET_TYPES = ['On', 'ForceOff', 'GracefulShutdown', 'GracefulRestart', 'ForceRestart', 'Nmi', 'ForceOn', 'PushPowerButton'];

export interface TreeOptions {
  uuid: string | null;
  serial?: string;
  hostName?: string;
  /** Where the reset types stand. */
  resetTypes?: readonly string[];
  allowable?: 'inline' | 'action-info' | 'absent';
  /** More ComputerSystems beside the machine's own: id → UUID. */
  otherSystems?: Readonly<Record<string, string>>;
  /** False: no Chassis is linked. */
  hasChassis?: boolean;
  /** False: the service root tells of no sessions. */
  hasSessions?: boolean;
  /** Where it opens sessions; default: where DSP0266 puts them since 1.6. */
  sessionsPath?: string;
  /** What its event log has recorded, the oldest first; absent: it keeps none. */
  events?: readonly RecordedEvent[];
}

export interface RecordedEvent {
  /** RFC 3339. */
  created: string;
  severity: 'OK' | 'Warning' | 'Critical';
  message: string;
}

const ROOT = '/redfish/v1';
export const SYSTEM_PATH = `${ROOT}/Systems/1`;
export const CHASSIS_PATH = `${ROOT}/Chassis/1U`;
export const RESET_PATH = `${SYSTEM_PATH}/Actions/ComputerSystem.Reset`;
const LOGS_PATH = `${SYSTEM_PATH}/LogServices`;
export const SESSIONS_PATH = `${ROOT}/SessionService/Sessions`;

function link(path: string): { '@odata.id': string } {
  return { '@odata.id': path };
}

function resetAction(options: TreeOptions): Record<string, unknown> {
  const target = { target: RESET_PATH };
  switch (options.allowable ?? 'inline') {
    case 'inline':
      return { ...target, 'ResetType@Redfish.AllowableValues': options.resetTypes ?? STANDARD_RESET_TYPES };
    case 'action-info':
      return { ...target, '@Redfish.ActionInfo': `${SYSTEM_PATH}/ResetActionInfo` };
    case 'absent':
      return target;
  }
}

function system(id: string, uuid: string | null, options: TreeOptions): Record<string, unknown> {
  const isOwn = id === '1';
  return {
    '@odata.type': '#ComputerSystem.v1_20_0.ComputerSystem',
    '@odata.id': `${ROOT}/Systems/${id}`,
    Id: id,
    Name: options.hostName ?? 'System',
    SystemType: 'Physical',
    Manufacturer: 'Nodefence drill',
    SerialNumber: isOwn ? (options.serial ?? 'DRILL0001') : `DRILL-${id}`,
    UUID: uuid,
    PowerState: 'On',
    Status: { State: 'Enabled', Health: 'OK' },
    Links: { Chassis: isOwn && options.hasChassis !== false ? [link(CHASSIS_PATH)] : [], ManagedBy: [link(`${ROOT}/Managers/BMC`)] },
    ...(isOwn && options.events !== undefined ? { LogServices: link(LOGS_PATH) } : {}),
    Actions: isOwn ? { '#ComputerSystem.Reset': resetAction(options) } : {},
  };
}

/** The System Event Log, its entries in full within their collection. */
function eventLog(events: readonly RecordedEvent[]): ResourceTree {
  const [service, entries] = [`${LOGS_PATH}/SEL`, `${LOGS_PATH}/SEL/Entries`];
  const members = events.map(({ created, severity, message }, index) => ({
    ...link(`${entries}/${index + 1}`),
    Id: String(index + 1),
    EntryType: 'SEL',
    Created: created,
    Severity: severity,
    Message: message,
  }));
  return {
    [LOGS_PATH]: { ...link(LOGS_PATH), Name: 'Log Services', 'Members@odata.count': 1, Members: [link(service)] },
    [service]: { ...link(service), Id: 'SEL', Name: 'System Event Log', LogEntryType: 'SEL', Entries: link(entries) },
    [entries]: { ...link(entries), Name: 'Log Entries', 'Members@odata.count': members.length, Members: members },
  };
}

/** A small tree in the shape of the DMTF rack-mount mock-up (DSP2043): one machine, its chassis, its sessions. */
export function resourceTree(options: TreeOptions): ResourceTree {
  const others = Object.entries(options.otherSystems ?? {});
  const members = ['1', ...others.map(([id]) => id)].map((id) => link(`${ROOT}/Systems/${id}`));
  return {
    [ROOT]: {
      '@odata.type': '#ServiceRoot.v1_15_0.ServiceRoot',
      '@odata.id': `${ROOT}/`,
      Id: 'RootService',
      Name: 'Root Service',
      RedfishVersion: '1.15.0',
      Systems: link(`${ROOT}/Systems`),
      Chassis: link(`${ROOT}/Chassis`),
      ...(options.hasSessions === false
        ? {}
        : { SessionService: link(`${ROOT}/SessionService`), Links: { Sessions: link(options.sessionsPath ?? SESSIONS_PATH) } }),
    },
    [`${ROOT}/Systems`]: {
      '@odata.id': `${ROOT}/Systems`,
      Name: 'Computer System Collection',
      'Members@odata.count': members.length,
      Members: members,
    },
    [SYSTEM_PATH]: system('1', options.uuid, options),
    ...Object.fromEntries(others.map(([id, uuid]) => [`${ROOT}/Systems/${id}`, system(id, uuid, options)])),
    ...(options.allowable === 'action-info'
      ? {
          [`${SYSTEM_PATH}/ResetActionInfo`]: {
            '@odata.id': `${SYSTEM_PATH}/ResetActionInfo`,
            Id: 'ResetActionInfo',
            Parameters: [{ Name: 'ResetType', Required: true, DataType: 'String', AllowableValues: options.resetTypes ?? STANDARD_RESET_TYPES }],
          },
        }
      : {}),
    ...(options.events === undefined ? {} : eventLog(options.events)),
    [`${ROOT}/Chassis`]: { '@odata.id': `${ROOT}/Chassis`, Name: 'Chassis Collection', 'Members@odata.count': 1, Members: [link(CHASSIS_PATH)] },
    [CHASSIS_PATH]: {
      '@odata.type': '#Chassis.v1_22_0.Chassis',
      '@odata.id': CHASSIS_PATH,
      Id: '1U',
      Name: 'Computer System Chassis',
      ChassisType: 'RackMount',
      PowerState: 'On',
      Links: { ComputerSystems: [link(SYSTEM_PATH)] },
    },
    [`${ROOT}/SessionService`]: {
      '@odata.id': `${ROOT}/SessionService`,
      Id: 'SessionService',
      ServiceEnabled: true,
      SessionTimeout: 30,
      Sessions: link(SESSIONS_PATH),
    },
  };
}

import type { Family } from './family.ts';

const APC = '1.3.6.1.4.1.318';
const APC_DEVICES = [`${APC}.1.3.4`];
const RPDU = `${APC}.1.1.12.3`;
const RPDU2 = `${APC}.1.1.26.9`;
const MASTER_SWITCH = `${APC}.1.1.4.4.2.1`;
const EATON = '1.3.6.1.4.1.534.6.6';
const EATON_G3 = `${EATON}.7.6`;
const EATON_MANAGED = `${EATON}.6.1.2.2.1`;
const PULIZZI = '1.3.6.1.4.1.20677';
const HPE = '1.3.6.1.4.1.232.165.11';
const HPE_PDU2 = '1.3.6.1.4.1.232.165.7';
const RARITAN = '1.3.6.1.4.1.13742.6';
const RARITAN_PX1 = '1.3.6.1.4.1.13742.4';
const CYBERPOWER = '1.3.6.1.4.1.3808';
const CYBERPOWER_EPDU = `${CYBERPOWER}.1.1.3.3`;
const CYBERPOWER_EPDU2 = `${CYBERPOWER}.1.1.6.6`;
const GEIST = '1.3.6.1.4.1.21239';
const SENTRY3 = '1.3.6.1.4.1.1718.3';
const SENTRY3_OUTLET = `${SENTRY3}.2.3.1`;
const SENTRY4 = '1.3.6.1.4.1.1718.4';
const SENTRY4_OUTLET = `${SENTRY4}.1.8`;
const GUDE = '1.3.6.1.4.1.28507';
const ATEN = '1.3.6.1.4.1.21317';
const ATEN_PE = `${ATEN}.1.3.2.2.2`;
const IBOOT_PDU = '1.3.6.1.4.1.1418.6';
const ENLOGIC = '1.3.6.1.4.1.38446.1';
const PANDUIT = '1.3.6.1.4.1.19536.10.1.5';
const TRIPP_LITE = '1.3.6.1.4.1.850';
const TRIPP_LITE_LX = `${TRIPP_LITE}.1.1.3.2.3.3.1.1`;
const TRIPP_LITE_OLD = `${TRIPP_LITE}.10.2.3.5.1`;

/** MIBs of EPC 1202 (43), 8226 (58), 8316 (64) of 2024-09-26, 8031 (81), 8045 (87), 8712-10 (112) of 2024-09-24: the same below each model's arc. */
const gude = (model: string): Family => ({
  name: 'gude',
  title: 'Gude Expert Power Control (GUDEADS-EPC...-MIB)',
  sysObjectIds: [GUDE],
  ofModel: gude,
  index: '{outlet}',
  state: { name: 'PortState', root: `${GUDE}.${model}.1.3.1.2.1.3`, on: [1], off: [0] },
  returns: { name: 'PortRepowerTime', root: `${GUDE}.${model}.1.3.1.2.1.7` },
  off: { root: `${GUDE}.${model}.1.3.1.2.1.3`, value: 0 },
  on: { root: `${GUDE}.${model}.1.3.1.2.1.3`, value: 1 },
  label: { name: 'PortName', root: `${GUDE}.${model}.1.3.1.2.1.2` },
  // Rows from 0 by its words, from 1 by its syntax.
  current: {
    name: 'spCurrent',
    root: `${GUDE}.${model}.1.5.5.2.1.5`,
    milliamperesPerUnit: 1,
    valid: { name: 'spChanStatus', root: `${GUDE}.${model}.1.5.5.2.1.2`, values: [1] },
    isFromZeroOrOne: true,
  },
});

/** ATEN has a scalar for each outlet, and a table in the middle of them. */
const atenScalar = (outlet: number): string => `${outlet <= 8 ? outlet + 1 : outlet + 2}.0`;

/**
 * Every kind of PDU that is known, from the vendors' MIBs; where several claim a device, the first that the device has outlets of is taken.
 * Commands are the immediate ones: what an admin set as a delay holds for the delayed commands only.
 */
export const FAMILIES: readonly Family[] = [
  {
    name: 'apc-rpdu2',
    title: 'APC rPDU2 (AP8xxx, APDU9xxx, AP7xxxB)',
    sysObjectIds: APC_DEVICES,
    index: '{row}',
    // Inverted: 1 is off.
    state: { name: 'rPDU2OutletSwitchedStatusState', root: `${RPDU2}.2.3.1.5`, on: [2], off: [1] },
    also: { name: 'CommandPending', root: `${RPDU2}.2.3.1.6`, settled: [2], pending: [1] },
    off: { root: `${RPDU2}.2.4.1.5`, value: 2 },
    on: { root: `${RPDU2}.2.4.1.5`, value: 1 },
    label: { name: 'rPDU2OutletSwitchedStatusName', root: `${RPDU2}.2.3.1.3` },
    chain: {
      unit: { name: 'rPDU2OutletSwitchedStatusModule', root: `${RPDU2}.2.3.1.2` },
      number: { name: 'rPDU2OutletSwitchedStatusNumber', root: `${RPDU2}.2.3.1.4` },
    },
    current: {
      name: 'rPDU2OutletMeteredStatusCurrent',
      root: `${RPDU2}.4.3.1.6`,
      milliamperesPerUnit: 100,
      unit: { name: 'rPDU2OutletMeteredStatusModule', root: `${RPDU2}.4.3.1.2` },
      number: { name: 'rPDU2OutletMeteredStatusNumber', root: `${RPDU2}.4.3.1.4` },
    },
  },
  {
    name: 'apc-rpdu',
    title: 'APC rPDU (AP79xx)',
    sysObjectIds: APC_DEVICES,
    index: '{outlet}',
    state: { name: 'rPDUOutletStatusOutletState', root: `${RPDU}.5.1.1.4`, on: [1], off: [2] },
    also: { name: 'CommandPending', root: `${RPDU}.5.1.1.5`, settled: [2], pending: [1] },
    off: { root: `${RPDU}.3.1.1.4`, value: 2 },
    on: { root: `${RPDU}.3.1.1.4`, value: 1 },
    label: { name: 'rPDUOutletStatusOutletName', root: `${RPDU}.5.1.1.2` },
    current: { name: 'rPDUOutletStatusLoad', root: `${RPDU}.5.1.1.7`, milliamperesPerUnit: 100 },
  },
  {
    name: 'apc-masterswitch-plus',
    title: 'APC MasterSwitch Plus',
    sysObjectIds: APC_DEVICES,
    index: '{unit}.1.{outlet}',
    state: { name: 'mspOutletStatus', root: `${APC}.1.1.6.7.1.1.5`, on: [1], off: [2] },
    off: { root: `${APC}.1.1.6.5.1.1.5`, value: 3 },
    on: { root: `${APC}.1.1.6.5.1.1.5`, value: 1 },
    label: { name: 'mspOutletName', root: `${APC}.1.1.6.7.1.1.4` },
  },
  {
    name: 'apc-masterswitch',
    title: 'APC MasterSwitch, and most later APC PDUs',
    sysObjectIds: APC_DEVICES,
    index: '{outlet}',
    // 4 is outletUnknown.
    state: { name: 'sPDUOutletCtl', root: `${MASTER_SWITCH}.3`, on: [1], off: [2] },
    also: { name: 'sPDUOutletPending', root: `${MASTER_SWITCH}.2`, settled: [2], pending: [1] },
    off: { root: `${MASTER_SWITCH}.3`, value: 2 },
    on: { root: `${MASTER_SWITCH}.3`, value: 1 },
    label: { name: 'sPDUOutletCtlName', root: `${MASTER_SWITCH}.4` },
  },
  {
    name: 'eaton-g3',
    title: 'Eaton ePDU G3',
    sysObjectIds: [`${EATON}.7`],
    index: '{unit}.{outlet}',
    state: { name: 'outletControlStatus', root: `${EATON_G3}.6.1.2`, on: [1], off: [0], pending: [2, 3] },
    // Seconds until it is done, not a state: 0 is at once.
    off: { root: `${EATON_G3}.6.1.3`, value: 0 },
    on: { root: `${EATON_G3}.6.1.4`, value: 0 },
    label: { name: 'outletName', root: `${EATON_G3}.1.1.3` },
    switchable: { name: 'outletControlSwitchable', root: `${EATON_G3}.6.1.9`, values: [1] },
    current: { name: 'outletCurrent', root: `${EATON_G3}.4.1.3`, milliamperesPerUnit: 1 },
  },
  {
    name: 'eaton-managed',
    title: 'Eaton Managed ePDU (first generation)',
    sysObjectIds: [`${EATON}.6`],
    index: '{outlet}',
    outletsFrom: 0,
    state: { name: 'outletOperationalState', root: `${EATON_MANAGED}.3`, on: [1], off: [0], pending: [2] },
    off: { root: `${EATON_MANAGED}.3`, value: 0 },
    on: { root: `${EATON_MANAGED}.3`, value: 1 },
    label: { name: 'outletLabel', root: `${EATON_MANAGED}.2` },
    current: { name: 'outletCurrent', root: `${EATON_MANAGED}.4`, milliamperesPerUnit: 1 },
  },
  {
    name: 'eaton-pulizzi',
    title: 'Eaton Switched ePDU (Pulizzi)',
    sysObjectIds: [`${PULIZZI}.1`, `${PULIZZI}.2`],
    index: '{outlet}.0',
    state: { name: 'outletStatus', root: `${PULIZZI}.2.6.3`, on: [1], off: [2] },
    // The first command is for all outlets together, so that of outlet 1 has number 2.
    off: { root: `${PULIZZI}.2.6.2`, value: 2, shift: 1 },
    on: { root: `${PULIZZI}.2.6.2`, value: 1, shift: 1 },
  },
  {
    name: 'hpe-pdu3',
    title: 'HPE PDU (pdu3 of CPQPOWER-MIB)',
    sysObjectIds: [HPE],
    index: '{unit}.{outlet}',
    state: { name: 'pdu3OutletControlStatus', root: `${HPE}.5.2.1.1`, on: [2], off: [1], pending: [3, 4] },
    off: { root: `${HPE}.5.2.1.2`, value: 0 },
    on: { root: `${HPE}.5.2.1.3`, value: 0 },
    label: { name: 'pdu3OutletName', root: `${HPE}.5.1.1.2` },
    switchable: { name: 'pdu3OutletControlSwitchable', root: `${HPE}.5.2.1.8`, values: [1] },
    current: { name: 'pdu3OutletCurrent', root: `${HPE}.5.1.1.5`, milliamperesPerUnit: 10 },
  },
  {
    // From a recorded walk of such a PDU (names, states, currents) and from NUT's hpe-pdu-mib (commands, their unit, what can be switched).
    name: 'hpe-pdu2',
    title: 'HPE Managed and Intelligent PDU (pdu2 of CPQPOWER-MIB)',
    sysObjectIds: [HPE_PDU2],
    index: '{unit}.{outlet}',
    state: { name: 'pdu2OutletControlStatus', root: `${HPE_PDU2}.5.2.1.1`, on: [2], off: [1], pending: [3, 4] },
    off: { root: `${HPE_PDU2}.5.2.1.2`, value: 0 },
    on: { root: `${HPE_PDU2}.5.2.1.3`, value: 0 },
    label: { name: 'pdu2OutletName', root: `${HPE_PDU2}.5.1.1.2` },
    switchable: { name: 'pdu2OutletControlSwitchable', root: `${HPE_PDU2}.5.2.1.8`, values: [1] },
    current: { name: 'pdu2OutletCurrent', root: `${HPE_PDU2}.5.1.1.5`, milliamperesPerUnit: 1 },
  },
  {
    name: 'raritan',
    title: 'Raritan PX2, PX3, PX4',
    sysObjectIds: [RARITAN],
    index: '{unit}.{outlet}',
    state: {
      name: 'outletSwitchingState',
      root: `${RARITAN}.4.1.2.1.3`,
      on: [7],
      off: [8],
      fallback: { name: 'measurementsOutletSensorState', root: `${RARITAN}.5.4.3.1.3`, suffix: '.14' },
    },
    off: { root: `${RARITAN}.4.1.2.1.2`, value: 0 },
    on: { root: `${RARITAN}.4.1.2.1.2`, value: 1 },
    label: { name: 'outletName', root: `${RARITAN}.3.5.3.1.3` },
    switchable: { name: 'outletSwitchable', root: `${RARITAN}.3.5.3.1.28`, values: [1] },
    // Sensor 1 is rmsCurrent, in ampere; digits were seen as 1 (PX2) and 3 (PX3, PX4).
    current: {
      name: 'measurementsOutletSensorValue rmsCurrent',
      root: `${RARITAN}.5.4.3.1.4`,
      suffix: '.1',
      milliamperesPerUnit: 1_000,
      digits: { name: 'outletSensorDecimalDigits', root: `${RARITAN}.3.5.4.1.7`, suffix: '.1' },
    },
  },
  {
    // No walk of one was at hand: columns, states and units from the captured values and the tables in Checkmk's raritan_px_outlets; it is written where it is read.
    name: 'raritan-px1',
    title: 'Raritan PX, first generation (PDU-MIB)',
    sysObjectIds: [RARITAN_PX1],
    index: '{outlet}',
    // -1 is an error.
    state: { name: 'outletOperationalState', root: `${RARITAN_PX1}.1.2.2.1.3`, on: [1], off: [0], pending: [2] },
    off: { root: `${RARITAN_PX1}.1.2.2.1.3`, value: 0 },
    on: { root: `${RARITAN_PX1}.1.2.2.1.3`, value: 1 },
    label: { name: 'outletLabel', root: `${RARITAN_PX1}.1.2.2.1.2` },
    current: { name: 'outletCurrent', root: `${RARITAN_PX1}.1.2.2.1.4`, milliamperesPerUnit: 1 },
  },
  {
    name: 'cyberpower-epdu2',
    title: 'CyberPower ePDU2',
    sysObjectIds: [CYBERPOWER],
    index: '{row}',
    state: { name: 'ePDU2OutletSwitchedStatusState', root: `${CYBERPOWER_EPDU2}.1.4.1.5`, on: [1], off: [2] },
    also: { name: 'CommandPending', root: `${CYBERPOWER_EPDU2}.1.4.1.6`, settled: [2], pending: [1] },
    off: { root: `${CYBERPOWER_EPDU2}.1.5.1.5`, value: 2 },
    on: { root: `${CYBERPOWER_EPDU2}.1.5.1.5`, value: 1 },
    label: { name: 'ePDU2OutletSwitchedStatusName', root: `${CYBERPOWER_EPDU2}.1.4.1.4` },
    chain: {
      unit: { name: 'ePDU2OutletSwitchedStatusModuleIndex', root: `${CYBERPOWER_EPDU2}.1.4.1.2` },
      number: { name: 'ePDU2OutletSwitchedStatusNumber', root: `${CYBERPOWER_EPDU2}.1.4.1.3` },
    },
    current: {
      name: 'ePDU2OutletMeteredStatusLoad',
      root: `${CYBERPOWER_EPDU2}.2.4.1.6`,
      milliamperesPerUnit: 100,
      unit: { name: 'ePDU2OutletMeteredStatusModuleIndex', root: `${CYBERPOWER_EPDU2}.2.4.1.2` },
      number: { name: 'ePDU2OutletMeteredStatusNumber', root: `${CYBERPOWER_EPDU2}.2.4.1.3` },
    },
  },
  {
    name: 'cyberpower-epdu',
    title: 'CyberPower ePDU',
    sysObjectIds: [CYBERPOWER],
    index: '{outlet}',
    state: { name: 'ePDUOutletStatusOutletState', root: `${CYBERPOWER_EPDU}.5.1.1.4`, on: [1], off: [2] },
    also: { name: 'CommandPending', root: `${CYBERPOWER_EPDU}.5.1.1.5`, settled: [2], pending: [1] },
    off: { root: `${CYBERPOWER_EPDU}.3.1.1.4`, value: 2 },
    on: { root: `${CYBERPOWER_EPDU}.3.1.1.4`, value: 1 },
    label: { name: 'ePDUOutletStatusOutletName', root: `${CYBERPOWER_EPDU}.5.1.1.2` },
    current: { name: 'ePDUOutletStatusLoad', root: `${CYBERPOWER_EPDU}.5.1.1.7`, milliamperesPerUnit: 100 },
  },
  {
    name: 'geist',
    title: 'Vertiv and Geist (VERTIV-V5-MIB)',
    sysObjectIds: [`${GEIST}.42.1`],
    index: '{outlet}',
    state: { name: 'pduOutletSwitchState', root: `${GEIST}.5.2.3.5.1.4`, on: [1], off: [2], pending: [3, 4, 5, 6] },
    sound: { name: 'pduOutletSwitchRelayFailure', root: `${GEIST}.5.2.3.5.1.5`, values: [2] },
    off: { root: `${GEIST}.5.2.3.5.1.6`, value: 4 },
    on: { root: `${GEIST}.5.2.3.5.1.6`, value: 2 },
    label: { name: 'pduOutletSwitchLabel', root: `${GEIST}.5.2.3.5.1.3` },
    current: { name: 'pduOutletMeterCurrent', root: `${GEIST}.5.2.3.6.1.8`, milliamperesPerUnit: 10 },
  },
  {
    name: 'sentry3',
    title: 'Server Technology Sentry3',
    sysObjectIds: [SENTRY3],
    index: '{unit}.{bank}.{outlet}',
    // 4 to 9 are errors, no communication, a blown fuse.
    state: { name: 'outletStatus', root: `${SENTRY3_OUTLET}.5`, on: [1], off: [0], pending: [2, 3] },
    also: {
      name: 'outletControlState',
      root: `${SENTRY3_OUTLET}.10`,
      settled: [0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15],
      pending: [8, 9, 10, 11, 16, 17],
      // idleOff, wakeOff, off, lockedOff, minimumOff, eventOff: where it is to be on, what it shows of itself may lag behind.
      off: [0, 2, 4, 6, 12, 14],
    },
    off: { root: `${SENTRY3_OUTLET}.11`, value: 2 },
    on: { root: `${SENTRY3_OUTLET}.11`, value: 1 },
    label: { name: 'outletName', root: `${SENTRY3_OUTLET}.3` },
    switchable: { name: 'outletCapabilities', root: `${SENTRY3_OUTLET}.4`, bit: 2 },
    current: { name: 'outletLoadValue', root: `${SENTRY3_OUTLET}.7`, milliamperesPerUnit: 10 },
  },
  {
    name: 'sentry4',
    title: 'Server Technology Sentry4',
    sysObjectIds: [SENTRY4],
    index: '{unit}.{bank}.{outlet}',
    state: { name: 'st4OutletState', root: `${SENTRY4_OUTLET}.3.1.1`, on: [1], off: [2] },
    also: {
      name: 'st4OutletControlState',
      root: `${SENTRY4_OUTLET}.5.1.1`,
      settled: [1, 2, 3, 4, 5, 6, 7, 10, 11, 14, 15, 16, 17],
      pending: [8, 9, 12, 13, 18, 19],
      // idleOff, wakeOff, ocpOff, off, lockedOff, eventOff.
      off: [2, 4, 6, 10, 14, 16],
    },
    off: { root: `${SENTRY4_OUTLET}.5.1.2`, value: 2 },
    on: { root: `${SENTRY4_OUTLET}.5.1.2`, value: 1 },
    label: { name: 'st4OutletName', root: `${SENTRY4_OUTLET}.2.1.3` },
    switchable: { name: 'st4OutletCapabilities', root: `${SENTRY4_OUTLET}.2.1.5`, bit: 0 },
    current: { name: 'st4OutletCurrent', root: `${SENTRY4_OUTLET}.3.1.3`, milliamperesPerUnit: 10 },
  },
  {
    name: 'tripplite-lx',
    title: 'Tripp Lite WEBCARDLX, PowerAlert 20',
    sysObjectIds: [`${TRIPP_LITE}.1.1.1`],
    index: '{unit}.{outlet}',
    state: { name: 'tlpPduOutletState', root: `${TRIPP_LITE_LX}.4`, on: [2], off: [1] },
    off: { root: `${TRIPP_LITE_LX}.6`, value: 1 },
    on: { root: `${TRIPP_LITE_LX}.6`, value: 2 },
    label: { name: 'tlpPduOutletName', root: `${TRIPP_LITE_LX}.2` },
    switchable: { name: 'tlpPduOutletControllable', root: `${TRIPP_LITE_LX}.5`, values: [1] },
    current: { name: 'tlpPduOutletCurrent', root: `${TRIPP_LITE_LX}.8`, milliamperesPerUnit: 10 },
  },
  {
    name: 'tripplite',
    title: 'Tripp Lite (older)',
    sysObjectIds: [`${TRIPP_LITE}.1`],
    index: '1.{outlet}',
    state: { name: 'outletState', root: `${TRIPP_LITE_OLD}.2`, on: [2], off: [1] },
    off: { root: `${TRIPP_LITE_OLD}.4`, value: 1 },
    on: { root: `${TRIPP_LITE_OLD}.4`, value: 2 },
    label: { name: 'outletName', root: `${TRIPP_LITE_OLD}.5` },
  },
  {
    // PANDUIT-MIB of 2023-07-24 (SmartZone G5 and G6). No walk with its control columns was at hand; its rows are written as unit.outlet, from 1, by those who read it.
    name: 'panduit',
    title: 'Panduit SmartZone G5 (PANDUIT-MIB)',
    sysObjectIds: ['1.3.6.1.4.1.19536.10'],
    index: '{unit}.{outlet}',
    state: { name: 'pdug5OutletControlStatus', root: `${PANDUIT}.2.1.1`, on: [2], off: [1], pending: [3, 4] },
    off: { root: `${PANDUIT}.2.1.10`, value: 1 },
    on: { root: `${PANDUIT}.2.1.10`, value: 2 },
    label: { name: 'pdug5OutletName', root: `${PANDUIT}.1.1.2` },
    switchable: { name: 'pdug5OutletControlSwitchable', root: `${PANDUIT}.2.1.8`, values: [1] },
    current: { name: 'pdug5OutletCurrent', root: `${PANDUIT}.1.1.5`, milliamperesPerUnit: 10 },
  },
  {
    // ENLOGIC-PDU-MIB of 2015-06-18 and ENLOGIC-PDU2-MIB of 2020-06-09, which agree in this; sysObjectID from walks of two that have no switched outlets.
    name: 'enlogic',
    title: 'Enlogic (ENLOGIC-PDU-MIB, ENLOGIC-PDU2-MIB)',
    sysObjectIds: [ENLOGIC],
    index: '{unit}.{outlet}',
    // It has no value for a state that is not known; the object of the command has one (7), and tells the state when it is read.
    state: { name: 'pduOutletSwitchedStatusState', root: `${ENLOGIC}.5.4.1.4`, on: [1], off: [0] },
    also: { name: 'pduOutletSwitchedControlCommand', root: `${ENLOGIC}.5.5.1.4`, settled: [1, 2], pending: [3, 4, 5, 6], off: [1] },
    off: { root: `${ENLOGIC}.5.5.1.4`, value: 1 },
    on: { root: `${ENLOGIC}.5.5.1.4`, value: 2 },
    number: { name: 'pduOutletSwitchedStatusNumber', root: `${ENLOGIC}.5.4.1.2` },
    label: { name: 'pduOutletSwitchedStatusName', root: `${ENLOGIC}.5.4.1.3` },
    current: {
      name: 'pduOutletMeteredStatusCurrent',
      root: `${ENLOGIC}.5.9.1.5`,
      milliamperesPerUnit: 10,
      number: { name: 'pduOutletMeteredStatusNumber', root: `${ENLOGIC}.5.9.1.2` },
    },
  },
  {
    // IBOOTPDU-MIB of 2017-10-25; that its rows begin with 0, where outlets begin with 1, is from the agent of an observatory that switches some.
    name: 'iboot-pdu',
    title: 'Dataprobe iBoot-PDU (IBOOTPDU-MIB)',
    sysObjectIds: [IBOOT_PDU],
    index: '{outlet}',
    outletsFrom: 0,
    countsFromFirst: true,
    // The one that is of the physical outlet; outletStatus shows that a cycle or a delayed on goes on, and may be no more than what was commanded.
    state: { name: 'outletActualStatus', root: `${IBOOT_PDU}.5.1.7`, on: [1], off: [0] },
    also: { name: 'outletStatus', root: `${IBOOT_PDU}.5.1.6`, settled: [0, 1], pending: [2, 3, 4], off: [0] },
    off: { root: `${IBOOT_PDU}.5.1.5`, value: 0 },
    on: { root: `${IBOOT_PDU}.5.1.5`, value: 1 },
    label: { name: 'outletName', root: `${IBOOT_PDU}.5.1.2` },
  },
  {
    // ATEN-PE-CFG 1.1.116 of 2015-02-11; that outlets show 3 for some seconds and obey a SET is from programs of others that switch some.
    name: 'aten',
    title: 'ATEN PE (ATEN-PE-CFG)',
    sysObjectIds: [ATEN],
    index: '{outlet}',
    // 4 fault, 5 no authority, 6 not supported, 7 switched by the protection of the PDU.
    state: { name: 'displayOutletStatus', root: `${ATEN_PE}.1.5.1.2`, on: [2], off: [1], pending: [3] },
    also: { name: 'outletStatus', root: `${ATEN_PE}.2`, instanceOf: atenScalar, settled: [1, 2], pending: [3, 4], off: [1] },
    off: { root: `${ATEN_PE}.2`, instanceOf: atenScalar, value: 1 },
    on: { root: `${ATEN_PE}.2`, instanceOf: atenScalar, value: 2 },
    label: { name: 'outletName', root: `${ATEN_PE}.2.10.1.2` },
    // Below 0 where the model does not measure.
    current: { name: 'outletIntegerCurrent', root: `${ATEN_PE}.2.99.1.2`, milliamperesPerUnit: 1 },
  },
  gude('58'),
];

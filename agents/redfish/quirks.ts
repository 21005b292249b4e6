import type { Wish } from './resource-view.ts';
import { isObject, objectAt, textAt, type JsonObject } from './words.ts';

/** How a vendor's BMC gives a picture of the console. Nothing is asked for that the device does not link to, but a `file`. */
export interface ScreenshotWay {
  /** From the Manager, link by link, to the resource that has the action. */
  link: readonly string[];
  /** Asked for when its resource advertises it. */
  action?: { name: string; body: Readonly<Record<string, string>> };
  /** Where the answer of the action keeps the picture (base64); else the answer is, or links to, the picture. */
  field?: string;
  /** A file of the BMC's own web server, got with the session's cookie of this name. */
  file?: { path: string; cookie: string };
}

/** What is special to a vendor, as data: no code asks for a name. */
export interface Quirk {
  vendor: string;
  /** Any of these, in any resource at hand: Vendor, Manufacturer or Model, a key of Oem, the end of the path. */
  signs: { maker?: RegExp; oem?: RegExp; path?: RegExp };
  /** Words beside DMTF's that mean the same, taken only where the device lists them and none of DMTF's. */
  resetTypes?: Readonly<Partial<Record<Wish, readonly string[]>>>;
  /** Ids of the LogServices that tell most, best first. */
  logs?: readonly string[];
  screenshot?: ScreenshotWay;
  /** Its Chassis is known to go on showing On while its machine is off: told, and never acted upon, for other firmware of the same maker may be right. */
  chassisPower?: { known: string; source: string };
}

/** First match counts. Sources and what else is known of each stand in README.md. */
export const QUIRKS: readonly Quirk[] = [
  // EX235a lists On, ForceOff and Off, which DMTF does not know; firmware with Off alone means the same by it.
  { vendor: 'HPE Cray', signs: { maker: /\bcray\b|^EX\d{3}/i }, resetTypes: { off: ['Off'] }, logs: ['SEL'] },
  {
    vendor: 'Dell',
    signs: { maker: /\bdell\b/i, oem: /^dell$/i, path: /\/System\.Embedded\.\d+$/ },
    logs: ['Sel', 'Lclog'],
    screenshot: {
      link: ['Links', 'Oem', 'Dell', 'DellLCService'],
      action: { name: '#DellLCService.ExportServerScreenShot', body: { FileType: 'ServerScreenShot' } },
      field: 'ServerScreenShotFile',
    },
  },
  {
    vendor: 'HPE',
    signs: { maker: /^(hpe?|hewlett.packard.*)$/i, oem: /^hpe?$/i },
    logs: ['IML', 'IEL'],
    screenshot: { link: [], file: { path: '/images/thumbnail.bmp', cookie: 'sessionKey' } },
    chassisPower: {
      known: 'emulators that serve a recording of an iLO go on showing the On of their recording',
      source: 'iLO emulators that this agent was tried against; nothing is known of an iLO itself',
    },
  },
  { vendor: 'Lenovo', signs: { maker: /\blenovo\b/i, oem: /^lenovo$/i }, logs: ['Sel', 'PlatformLog', 'ActiveLog', 'StandardLog'] },
  {
    vendor: 'Supermicro',
    signs: { maker: /super ?micro/i, oem: /^supermicro$/i },
    logs: ['Log1'],
    screenshot: { link: ['Oem', 'Supermicro', 'ScreenCapture'], action: { name: '#SmcScreenCapture.Capture', body: {} } },
  },
  { vendor: 'Cisco', signs: { maker: /\bcisco\b/i, oem: /^cisco$/i }, logs: ['SEL', 'CIMC'] },
  { vendor: 'Fujitsu', signs: { maker: /\bfujitsu\b|\bfsas\b/i, oem: /^ts_fujitsu$/i }, logs: ['SystemEventLog', 'InternalEventLog'] },
  {
    vendor: 'OpenBMC',
    signs: { maker: /^openbmc$/i, oem: /^openbmc$/i, path: /\/Systems\/system$/ },
    logs: ['EventLog', 'SEL'],
    chassisPower: { known: 'images of before 2019 show every Chassis as On', source: 'https://github.com/openbmc/bmcweb/issues/27' },
  },
  {
    vendor: 'sushy-tools',
    signs: { maker: /^sushy emulator$/i },
    logs: [],
    chassisPower: {
      known: 'its Chassis is a fixed text that says On',
      source: 'https://opendev.org/openstack/sushy-tools, sushy_tools/emulator/templates/chassis.json (2.2.0)',
    },
  },
];

/** The row of the vendor that these resources (service root, ComputerSystem, Manager) show; undefined for one that follows DMTF, or is not known. */
export function quirkOf(...resources: readonly unknown[]): Quirk | undefined {
  const marks = resources.filter(isObject).map(marksOf);
  return QUIRKS.find(({ signs }) => marks.some((shown) => bears(shown, signs)));
}

interface Marks {
  makers: readonly string[];
  oem: readonly string[];
  path: string;
}

function marksOf(resource: JsonObject): Marks {
  const makers = ['Vendor', 'Manufacturer', 'Model'].map((key) => textAt(resource, key) ?? '');
  return { makers, oem: Object.keys(objectAt(resource, 'Oem') ?? {}), path: (textAt(resource, '@odata.id') ?? '').replace(/\/$/, '') };
}

function bears({ makers, oem, path }: Marks, signs: Quirk['signs']): boolean {
  return makers.some((maker) => signs.maker?.test(maker)) || oem.some((key) => signs.oem?.test(key)) || signs.path?.test(path) === true;
}

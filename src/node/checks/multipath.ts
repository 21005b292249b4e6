/** One path of a multipath map. */
export interface MultipathPath {
  /** Alias or WWID; undefined where `show paths` was not asked for it. */
  map?: string;
  device: string;
  isUsable: boolean;
}

export interface MultipathMap {
  name: string;
  usable: number;
  paths: number;
}

/** As `multipathd show paths format` is to be asked: map, device, state of device-mapper, state of the checker, state of the SCSI device. */
export const PATHS_FORMAT = '%m %d %t %T %o';

const DM_STATES = 'active|failed|undef';
const CHECKER_STATES = 'ready|ghost|faulty|shaky|delayed|i/o pending|i/o timeout|undef';
/** `sdb 8:16 active ready running`, behind `3:0:0:1`, `#:#:#:#` and what draws the tree. Older ones write `[active][ready]`. */
const TREE_PATH = new RegExp(
  String.raw`[|\x60\\][-_ ]+(?:[\d#-]+:){3}[\d#-]+ +(\S{1,64}) +[\d#-]+:[\d#-]+ +\[?(${DM_STATES})[\] ] *\[?(${CHECKER_STATES})\]?(?: +(\S{1,32}))?\s*$`,
  'u',
);
/** `mpatha (3600...) dm-0 VENDOR,MODEL`, also behind `reload: ` and the like. Older ones write `mpath1 (3600...)`. */
const TREE_MAP = /^(?:[a-z]+: )?(\S{1,128}) (?:\(\S{1,128}\)|dm-\d{1,6} )/u;
const LISTED_PATH = new RegExp(String.raw`^(\S{1,128}) +(\S{1,64}) +(${DM_STATES}) +(${CHECKER_STATES}) +(\S{1,32})\s*$`, 'u');

/** The paths of `multipath -ll`. */
export function pathsOfTree(text: string): MultipathPath[] {
  const found: MultipathPath[] = [];
  let map: string | undefined;
  for (const line of text.split('\n')) {
    const [, device, kernel, checker, online] = TREE_PATH.exec(line) ?? [];
    if (device !== undefined) found.push({ ...(map === undefined ? {} : { map }), device, isUsable: isUsable(kernel, checker, online) });
    else map = TREE_MAP.exec(line)?.[1] ?? map;
  }
  return found;
}

/** The paths of `multipathd show paths format "%m %d %t %T %o"`. */
export function pathsOfList(text: string): MultipathPath[] {
  const found: MultipathPath[] = [];
  for (const line of text.split('\n')) {
    const [, map, device, kernel, checker, online] = LISTED_PATH.exec(line) ?? [];
    // A path without a map is an orphan: nothing uses it.
    if (map === undefined || device === undefined || map === '[orphan]') continue;
    found.push({ map, device, isUsable: isUsable(kernel, checker, online) });
  }
  return found;
}

export function mapsOf(paths: readonly MultipathPath[]): MultipathMap[] {
  const maps = new Map<string, MultipathMap>();
  for (const { map: name = 'multipath', isUsable: counts } of paths) {
    const map = maps.get(name) ?? { name, usable: 0, paths: 0 };
    maps.set(name, { name, usable: map.usable + (counts ? 1 : 0), paths: map.paths + 1 });
  }
  return [...maps.values()];
}

/** The kernel may use it, and its checker did not find it dead. A ghost is the standby half of an array, and works. */
function isUsable(kernel: string | undefined, checker: string | undefined, online: string | undefined): boolean {
  return kernel !== 'failed' && (checker === 'ready' || checker === 'ghost' || checker === 'delayed') && online !== 'offline';
}

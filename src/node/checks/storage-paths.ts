import { join } from 'node:path';
import type { Children } from './children.ts';
import { whyNothing } from './children.ts';
import { mapsOf, PATHS_FORMAT, pathsOfList, pathsOfTree } from './multipath.ts';
import type { MultipathMap } from './multipath.ts';
import { namesIn, textOf } from './reading.ts';

/** Ways to storage: how many there are, how many of them are up. */
export interface Ways {
  total: number;
  up: number;
}

/** Undefined: there are none of these here. */
export interface StoragePaths {
  maps?: MultipathMap[];
  /** Why nothing is known of multipath, although there is some. */
  multipathUnknown?: string;
  fc?: Ways;
  iscsi?: Ways;
}

export interface PathPorts {
  root: string;
  children: Pick<Children, 'run'>;
  multipathd?: string;
  multipath?: string;
}

export async function readStoragePaths(ports: PathPorts, deadlineMs: number): Promise<StoragePaths> {
  const [multipath, fc, iscsi] = await Promise.all([
    readMultipath(ports, deadlineMs),
    // Kept of a port that was never cabled: nothing is lost where that is not online.
    waysIn(ports.root, 'sys/class/fc_host', 'port_state', 'Online'),
    waysIn(ports.root, 'sys/class/iscsi_session', 'state', 'LOGGED_IN'),
  ]);
  return { ...multipath, ...(fc === undefined ? {} : { fc }), ...(iscsi === undefined ? {} : { iscsi }) };
}

/** The daemon is asked first: it answers from memory, where `multipath -ll` looks at every path and may hang. */
async function readMultipath(ports: PathPorts, deadlineMs: number): Promise<Pick<StoragePaths, 'maps' | 'multipathUnknown'>> {
  const { children, multipathd = 'multipathd', multipath = 'multipath' } = ports;
  const listed = await children.run('multipathd', multipathd, ['show', 'paths', 'format', PATHS_FORMAT], deadlineMs / 2);
  if (listed.kind === 'ended' && listed.code === 0) {
    const maps = mapsOf(pathsOfList(listed.output));
    if (maps.length > 0) return { maps };
  }
  const tree = await children.run('multipath', multipath, ['-ll'], deadlineMs / 2);
  if (tree.kind === 'absent') return {};
  const why = whyNothing('multipath -ll', tree);
  if (why !== undefined) return { multipathUnknown: why };
  const maps = mapsOf(pathsOfTree(tree.kind === 'ended' ? tree.output : ''));
  return maps.length === 0 ? {} : { maps };
}

async function waysIn(root: string, folder: string, attribute: string, up: string): Promise<Ways | undefined> {
  const names = (await namesIn(root, folder)) ?? [];
  const states = await Promise.all(names.map(async (name) => textOf(root, join(folder, name, attribute))));
  const known = states.filter((state) => state !== undefined).map((state) => state.trim());
  return known.length === 0 ? undefined : { total: known.length, up: known.filter((state) => state === up).length };
}

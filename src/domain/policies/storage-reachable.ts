import type { StormPolicy } from './policy.ts';
import { stormPolicy } from './scope.ts';
import type { CommonSettings, Ruling } from './scope.ts';
import type { StorageView } from './view.ts';

export const STORAGE_CASES = ['host-unreachable', 'storage-unreachable', 'lease-alive'] as const;
export type StorageCase = (typeof STORAGE_CASES)[number];

export interface StorageReachableSettings extends CommonSettings {
  when: readonly StorageCase[];
}

export const DEFAULT_STORAGE_CASES: readonly StorageCase[] = ['storage-unreachable', 'lease-alive'];

const MESSAGES: Readonly<Record<StorageCase, string>> = {
  'host-unreachable': 'this host cannot reach its storage while its peers can: it cannot write either; ends when it reaches it again',
  'storage-unreachable': 'its peers cannot reach the storage either: the storage failed, not the node; ends when they reach it again',
  'lease-alive': 'it still renews its lease on the storage: it is alive; ends when it stops',
};

/** What the storage says of a node; where nobody reports it, nothing is held. */
export function storageReachable(settings: StorageReachableSettings): StormPolicy {
  const cases = STORAGE_CASES.filter((name) => settings.when.includes(name));
  return stormPolicy('storage-reachable', settings, (): Ruling => ({ storage }) => {
    const reason = storage === undefined ? undefined : cases.find((name) => isCase(name, storage));
    return reason === undefined ? undefined : { reason, message: MESSAGES[reason] };
  });
}

/** A peer that was not asked speaks neither for nor against the storage. */
function isCase(name: StorageCase, { hostReaches, peersReach, renewsLease }: StorageView): boolean {
  switch (name) {
    case 'host-unreachable':
      return hostReaches === false && peersReach !== false;
    case 'storage-unreachable':
      return peersReach === false && hostReaches !== true;
    case 'lease-alive':
      return renewsLease === true;
  }
}

import { KDUMP_ADDRESSES } from '../../../domain/kdump/record.ts';
import type { Lister } from '../../../ports/cluster.ts';
import type { KubeObject, Node } from '../../../ports/objects.ts';

export const MESSAGE = Uint8Array.of(0x40, 0x2a, 0x30, 0x1b, 1, 0, 0, 0);
export const quiet = (): void => undefined;

export function listerOf<T extends KubeObject>(items: T[]): Lister<T> & { changed: (before: T | undefined, after: T | undefined) => void } {
  const listeners: ((before: T | undefined, after: T | undefined) => void)[] = [];
  return {
    synced: true,
    freshAtMs: Infinity,
    get: (key) => items.find(({ metadata }) => key === metadata.name || key === `${metadata.namespace ?? ''}/${metadata.name}`),
    all: () => items,
    byIndex: () => items,
    onChange: (listener) => {
      listeners.push(listener);
      return quiet;
    },
    changed: (before, after) => {
      for (const listener of listeners) listener(before, after);
    },
  };
}

export function nodeOf(name: string, addresses: string[], more: { pods?: string[]; others?: string; ready?: 'True' | 'Unknown' } = {}): Node {
  return {
    metadata: { name, ...(more.others === undefined ? {} : { annotations: { [KDUMP_ADDRESSES]: more.others } }) },
    spec: { ...(more.pods === undefined ? {} : { podCIDRs: more.pods }) },
    status: {
      addresses: addresses.map((address) => ({ type: 'InternalIP', address })),
      conditions: [{ type: 'Ready', status: more.ready ?? 'Unknown', reason: '', lastTransitionTime: '' }],
    },
  };
}

import { lookup } from './lookup.ts';

/** What decides on which storage a volume is; read from a PersistentVolume. */
export interface VolumeFacts {
  name: string;
  storageClass: string | undefined;
  driver: string | undefined;
  handle: string | undefined;
  /** Server of an NFS volume, in the volume's own source or its CSI attributes. */
  nfs: string | undefined;
  /** Portal of an iSCSI volume. */
  iscsi: string | undefined;
}

const TERMS: Readonly<Record<string, (volume: VolumeFacts, value: string) => boolean>> = {
  driver: ({ driver }, value) => driver === value,
  handle: ({ handle }, value) => handle?.startsWith(value) === true,
  class: ({ storageClass }, value) => storageClass === value,
  nfs: ({ nfs }, value) => nfs === value,
  iscsi: ({ iscsi }, value) => iscsi === value || iscsi?.startsWith(`${value}:`) === true,
  volume: ({ name }, value) => name === value,
};

export const STORAGE_TERMS: readonly string[] = Object.keys(TERMS);

/**
 * Is a volume on a storage, by its `storage_match`: alternatives parted by blanks, each of terms joined by `+` that all have to hold, as
 * `driver:rbd.csi.ceph.com+handle:0001- nfs:10.0.0.5`.
 */
export function isOnStorage(match: string, volume: VolumeFacts): boolean {
  return alternatives(match).some(
    (terms) => terms.length > 0 && terms.every(([term, value]) => value !== '' && lookup(TERMS, term)?.(volume, value) === true),
  );
}

/** Terms of a `storage_match` that mean nothing. */
export function unknownTerms(match: string): string[] {
  return alternatives(match)
    .flat()
    .filter(([term, value]) => !Object.hasOwn(TERMS, term) || value === '')
    .map(([term, value]) => `${term}:${value}`);
}

function alternatives(match: string): [term: string, value: string][][] {
  const words = match.split(/[\s,]+/).filter((word) => word !== '');
  return words.map((word) =>
    word.split('+').map((term): [string, string] => {
      const colon = term.indexOf(':');
      return colon < 0 ? [term, ''] : [term.slice(0, colon), term.slice(colon + 1)];
    }),
  );
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package that the lock file pins. */
export interface LockedPackage {
  /** Where it is installed: `node_modules/pino`, or below another one. */
  path: string;
  name: string;
  version: string;
  /** As SPDX names it; empty: the package does not say. */
  licence: string;
  /** As the registry gave it: `sha512-...`. */
  integrity: string;
  /** Development alone installs it. */
  isDevelopment: boolean;
  isOptional: boolean;
  /** It would run a script when it is installed. */
  hasScript: boolean;
  /** Why its authors advise against it; empty: they do not. */
  deprecated: string;
  /** Names, of packages that it needs. */
  needs: readonly string[];
}

interface LockEntry {
  version?: string;
  license?: string;
  integrity?: string;
  dev?: boolean;
  devOptional?: boolean;
  optional?: boolean;
  hasInstallScript?: boolean;
  deprecated?: string;
  dependencies?: Record<string, string>;
}

interface OwnManifest {
  license?: string | { type: string };
  licenses?: { type: string }[];
}

const AT = 'node_modules/';

/** All packages of the lock file under `root`, in its order. Old packages name their licence in their own manifest only: they are asked where they are installed. */
export function lockedPackages(root: string): LockedPackage[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, LockEntry> };
  return Object.entries(lock.packages)
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({
      path,
      name: path.slice(path.lastIndexOf(AT) + AT.length),
      version: entry.version ?? '',
      licence: entry.license ?? licenceOfManifest(join(root, path, 'package.json')),
      integrity: entry.integrity ?? '',
      isDevelopment: entry.dev === true || entry.devOptional === true,
      isOptional: entry.optional === true,
      hasScript: entry.hasInstallScript === true,
      deprecated: entry.deprecated ?? '',
      needs: Object.keys(entry.dependencies ?? {}),
    }));
}

function licenceOfManifest(file: string): string {
  if (!existsSync(file)) return '';
  const { license, licenses } = JSON.parse(readFileSync(file, 'utf8')) as OwnManifest;
  if (typeof license === 'string') return license;
  return license?.type ?? licenses?.[0]?.type ?? '';
}

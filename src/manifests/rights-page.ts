import type { Role } from './access.ts';
import { MANIFEST_FILES, OPTIONAL_FILES } from './installation.ts';
import type { ManifestFile } from './installation.ts';

interface Row {
  folder: string;
  role: string;
  place: string;
  resource: string;
  verbs: string;
}

/** A rule is about objects or about paths. */
type ShownRule = Partial<Role['rules'][number]> & { verbs: readonly string[]; nonResourceURLs?: readonly string[] };

const HEAD: Row = { folder: '`config/`', role: 'role', place: 'where', resource: 'what', verbs: 'verbs' };
const ORDER: readonly (keyof Row)[] = ['folder', 'role', 'place', 'resource', 'verbs'];

const INTRODUCTION = `<!-- Written by \`npm run generate\` from src/manifests; edits are lost. -->

# Rights

Everything that the shipped roles grant, folder by folder. Who gets which role of people, and why, is in [security.md](security.md); which rights each feature needs is on its page.

A test plays fences under the roles of \`config/rbac\` and fails when a right is used by none of them and not listed with its reason (\`test/installation/rights.test.ts\`); another takes each right away by itself, and the controller names it and does not begin to lead (\`test/installation/removed-rights.test.ts\`). A role that is bound to nobody by the folder itself is for people, or for a namespace of your choice.
`;

/** docs/rights.md. */
export function rightsPage(): string {
  const rows = [HEAD, ...[...MANIFEST_FILES, ...OPTIONAL_FILES].flatMap(rowsOf)];
  const widths = ORDER.map((key) => Math.max(...rows.map((row) => row[key].length)));
  const lines = rows.map((row) => `| ${ORDER.map((key, index) => row[key].padEnd(widths[index] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return `${INTRODUCTION}\n${[lines[0], rule, ...lines.slice(1)].join('\n')}\n`;
}

function rowsOf({ path, objects }: ManifestFile): Row[] {
  const folder = path.split('/').slice(0, -1).join('/');
  return objects.flatMap((object) => ('rules' in object && isRole(object) ? rowsOfRole(folder, object) : []));
}

function isRole(object: object): object is Role {
  return 'kind' in object && (object.kind === 'Role' || object.kind === 'ClusterRole');
}

function rowsOfRole(folder: string, { kind, metadata, rules }: Role): Row[] {
  const place = kind === 'ClusterRole' ? 'cluster' : (metadata.namespace ?? '');
  const shown: readonly ShownRule[] = rules;
  return shown.flatMap(({ apiGroups = [], resources = [], verbs, resourceNames, nonResourceURLs = [] }) => [
    ...nonResourceURLs.map((url) => ({ folder, role: metadata.name, place, resource: `path ${url}`, verbs: verbs.join(', ') })),
    ...apiGroups.flatMap((group) =>
      resources.map((resource) => {
        const full = group === '' ? resource : `${resource} (${group})`;
        const named = resourceNames === undefined ? '' : `: ${resourceNames.join(', ')}`;
        return { folder, role: metadata.name, place, resource: `${full}${named}`, verbs: verbs.join(', ') };
      }),
    ),
  ]);
}

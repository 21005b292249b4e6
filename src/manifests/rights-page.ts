import { CONTROLLER_ACCESS } from './access.ts';
import type { Role } from './access.ts';
import { FOLDER_PURPOSES } from './folder-purposes.ts';
import { MANIFEST_FILES, OPTIONAL_FILES } from './installation.ts';
import { RIGHT_REASONS } from './right-reasons.ts';

/** A rule is about objects or about paths. */
type ShownRule = Partial<Role['rules'][number]> & { verbs: readonly string[]; nonResourceURLs?: readonly string[] };

interface ShownBinding {
  kind: string;
  metadata: { namespace?: string };
  roleRef: { kind: string; name: string };
  subjects: readonly { kind: string; name: string }[];
}

interface Row {
  resource: string;
  names: readonly string[];
  verbs: readonly string[];
}

const NAMES_SHOWN = 2;
const AGGREGATES = /\/aggregate-to-view$/;

const INTRODUCTION = `<!-- Written by \`npm run generate\` from src/manifests; edits are lost. -->

# Rights

What the shipped roles grant, folder by folder. Who should get which role of people, and why, is in [security.md](security.md); what each folder is for in full is on the page of its feature.

| you want to know                                  | look at                                          |
| ------------------------------------------------- | ------------------------------------------------ |
| what the controller may do, and what each is for  | [config/rbac](#configrbac)                       |
| what a person gets                                | the roles that are bound to nobody by the folder |
| what a feature adds                               | the folder that you apply for it                 |

- **Nothing is granted for later.** A test plays fences under these roles, and fails when a right is used by none of them and not listed with its reason (\`test/installation/rights.test.ts\`).
- **Nothing is missing in silence.** In mode enforce a replica that lacks any one right of \`config/rbac\` does not lead. It names the right and the folder in its log, in \`/readyz\` and in \`nodefence status\`; a right that is taken away later is found within ten minutes. A test takes each away by itself (\`test/installation/removed-rights.test.ts\`). The column \`without it\` is what would not work if it led all the same.
- **Names in italics** are the only objects that a right is good for.
`;

/** docs/rights.md. */
export function rightsPage(): string {
  return [INTRODUCTION, ...Object.entries(FOLDER_PURPOSES).map(([folder, purpose]) => sectionOf(folder, purpose))].join('\n');
}

/** Folders of config/ in which there is a role. */
export function foldersWithRoles(): string[] {
  const files = [...MANIFEST_FILES, ...OPTIONAL_FILES].filter(({ objects }) => objects.some(isRole));
  return [...new Set(files.map(({ path }) => path.split('/')[0] ?? ''))];
}

function sectionOf(folder: string, purpose: string): string {
  const objects = [...MANIFEST_FILES, ...OPTIONAL_FILES].filter(({ path }) => path.startsWith(`${folder}/`)).flatMap((file) => file.objects);
  const bindings = objects.filter((object): object is ShownBinding => 'roleRef' in object);
  const roles = objects.filter(isRole).map((role) => `${headOf(role, bindings)}\n\n${tableOf(role)}\n`);
  return `## config/${folder}\n\n${purpose}\n\n${roles.join('\n')}`;
}

function isRole(object: object): object is Role {
  return 'rules' in object && 'kind' in object && (object.kind === 'Role' || object.kind === 'ClusterRole');
}

/** `**nodefence-heartbeats**, in `kube-node-lease`, for the controller`. */
function headOf(role: Role, bindings: readonly ShownBinding[]): string {
  const { kind, metadata } = role;
  const place = kind === 'ClusterRole' ? 'in the whole cluster' : `in namespace \`${metadata.namespace ?? ''}\``;
  const bound = bindings.filter(
    ({ roleRef, metadata: { namespace } }) => roleRef.kind === kind && roleRef.name === metadata.name && namespace === metadata.namespace,
  );
  const subjects = [...new Set(bound.flatMap(({ subjects: each }) => each.map(({ name }) => name)))];
  const isOfView = Object.keys(metadata.labels ?? {}).some((label) => AGGREGATES.test(label));
  const holder =
    subjects.length > 0
      ? `bound to the account ${subjects.map((name) => `\`${name}\``).join(' and ')}`
      : isOfView
        ? 'part of `view`, `edit` and `admin`'
        : 'bound to nobody: an administrator binds it';
  return `**${metadata.name}**, ${place}, ${holder}:`;
}

function tableOf(role: Role): string {
  const isControllers = CONTROLLER_ACCESS.includes(role);
  const head = isControllers ? ['right', 'on', 'without it'] : ['right', 'on'];
  const rows = rowsOf(role).flatMap((row) => (isControllers ? withReasons(role, row) : [cellsOf(row)]));
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** Verbs that are granted on the same objects stand in one row. */
function rowsOf({ rules }: Role): Row[] {
  const rows = new Map<string, Row>();
  const shown: readonly ShownRule[] = rules;
  for (const { apiGroups = [], resources = [], verbs, resourceNames: names = [], nonResourceURLs = [] } of shown) {
    const all = [...nonResourceURLs.map((url) => `path ${url}`), ...apiGroups.flatMap((group) => resources.map((each) => withGroup(each, group)))];
    for (const resource of all) {
      const key = JSON.stringify([resource, names]);
      rows.set(key, { resource, names, verbs: [...new Set([...(rows.get(key)?.verbs ?? []), ...verbs])] });
    }
  }
  return [...rows.values()];
}

function withGroup(resource: string, group: string): string {
  return group === '' ? resource : `${resource}.${group}`;
}

function cellsOf({ resource, names, verbs }: Row): string[] {
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
  const named =
    names.length === 0
      ? ''
      : `: ${names
          .slice(0, NAMES_SHOWN)
          .map((name) => `_${name}_`)
          .join(', ')}${more}`;
  return [verbs.join(', '), `${resource}${named}`];
}

/** One row for each thing that does not work without it. */
function withReasons({ kind, metadata }: Role, row: Row): string[][] {
  const place = kind === 'ClusterRole' ? 'cluster' : (metadata.namespace ?? '');
  return RIGHT_REASONS.filter((reason) => reason.place === place && reason.resource === row.resource).flatMap(({ verbs, without }) => {
    const granted = row.verbs.filter((verb) => verbs.includes(verb));
    return granted.length === 0 ? [] : [[...cellsOf({ ...row, verbs: granted }), without]];
  });
}

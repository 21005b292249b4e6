import { access, readFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/recorder.ts';
import type { Reading } from '../credentials/text-source.ts';
import { RepeatedWarnings } from '../repeated-warnings.ts';
import { inClusterConfig, SERVICE_ACCOUNT } from './in-cluster.ts';
import { Section } from './section.ts';
import type { ServerConfig } from './server-config.ts';
import { textSourceOf, type Place } from './place.ts';
import { credentialOf, impersonationOf } from './user.ts';

export interface LoadOptions {
  /** One file; takes precedence over KUBECONFIG. */
  path?: string;
  /** Instead of `current-context`. */
  context?: string;
  environment: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** Of a process that runs for long: files that cannot be read any more are told there. */
  logger?: Logger;
}

/** One named entry and the file that it came from. */
interface Named {
  section: Section;
  place: Place;
}

const LISTS = [
  ['contexts', 'context'],
  ['clusters', 'cluster'],
  ['users', 'user'],
] as const;

interface Merged {
  files: readonly string[];
  currentContext: string | undefined;
  contexts: ReadonlyMap<string, Named>;
  clusters: ReadonlyMap<string, Named>;
  users: ReadonlyMap<string, Named>;
}

/**
 * Finds the API server as kubectl does: the given path, else the files of KUBECONFIG, else the pod's service account, else
 * `$HOME/.kube/config`. Every error names the file, the field and the remedy.
 */
export async function loadServerConfig(options: LoadOptions): Promise<ServerConfig> {
  const { environment } = options;
  if (options.path !== undefined) {
    return fromFiles([options.path], options);
  }
  const listed = (environment['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) {
    return fromFiles(listed, options);
  }
  if ((environment['KUBERNETES_SERVICE_HOST'] ?? '') !== '') {
    return inClusterConfig(environment, readingOf(options));
  }
  const home = environment['HOME'];
  const standard = home === undefined ? undefined : join(home, '.kube', 'config');
  if (standard === undefined || !(await exists(standard))) {
    const looked = `KUBECONFIG is not set, KUBERNETES_SERVICE_HOST is not set (no pod with ${SERVICE_ACCOUNT}), ${standard ?? '$HOME/.kube/config'} does not exist`;
    throw new Error(`no cluster configured: ${looked}; give --kubeconfig PATH or set KUBECONFIG`);
  }
  return fromFiles([standard], options);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** What an entry may only say in a file of this machine: a kubeconfig that came over the API must not name files or programs of ours. */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  clusters: ['certificate-authority'],
  users: ['client-certificate', 'client-key', 'tokenFile', 'exec', 'auth-provider'],
};

/** The API server that the text of a kubeconfig names, as a Secret holds it: everything has to stand in it. `source` is for messages. */
export async function serverConfigOfText(text: string, source: string, clock: Clock): Promise<ServerConfig> {
  const { parse } = await import('yaml');
  const root = new Section(parsedText(text, `kubeconfig ${source}`, parse), `kubeconfig ${source}`);
  for (const [list, key] of LISTS) {
    for (const item of root.sections(list)) {
      const named = (FOREIGN[list] ?? []).find((field) => item.section(key)?.has(field) === true);
      if (named !== undefined) {
        throw new Error(`${item.where}.${key}.${named}: names a file or a program of this machine; give the data itself, or a token`);
      }
    }
  }
  const merged = { contexts: new Map<string, Named>(), clusters: new Map<string, Named>(), users: new Map<string, Named>() };
  for (const [list, key] of LISTS) collect(root, source, list, key, merged[list]);
  return fromMerged({ ...merged, files: [source], currentContext: root.text('current-context') }, { environment: {}, clock });
}

async function fromFiles(paths: readonly string[], options: LoadOptions): Promise<ServerConfig> {
  return fromMerged(await merge(paths, paths.length > 1), options);
}

async function fromMerged(merged: Merged, options: LoadOptions): Promise<ServerConfig> {
  const files = merged.files.join(', ');
  const contextName = options.context ?? merged.currentContext;
  if (contextName === undefined) {
    throw new Error(
      `kubeconfig ${files}: current-context is not set; set it (kubectl config use-context NAME) or name one, there are: ${names(merged.contexts)}`,
    );
  }
  const context = find(merged.contexts, contextName, 'context', options.context === undefined ? `kubeconfig ${files}: current-context` : '--context');
  const clusterName = context.section.text('cluster');
  if (clusterName === undefined) {
    throw new Error(`${context.section.where}.cluster: is missing; name one of: ${names(merged.clusters)}`);
  }
  const cluster = find(merged.clusters, clusterName, 'cluster', `${context.section.where}.cluster`);
  const userName = context.section.text('user');
  const user = userName === undefined ? undefined : find(merged.users, userName, 'user', `${context.section.where}.user`);
  const reading = readingOf(options);
  return {
    ...clusterParts(cluster, reading),
    source: `${context.place.file}, context ${contextName}`,
    credential: await credentialOf(user?.section, user?.place, cluster.section, { ...reading, environment: options.environment }),
    headers: user === undefined ? {} : impersonationOf(user.section),
    namespace: context.section.text('namespace') ?? 'default',
    warnings: reading.warnings,
  };
}

function readingOf({ clock, logger }: LoadOptions): Reading {
  return { clock, ...(logger === undefined ? {} : { warnings: new RepeatedWarnings({ clock, logger }) }) };
}

function clusterParts({ section, place }: Named, reading: Reading): Pick<ServerConfig, 'url' | 'authority' | 'isVerified' | 'serverName'> {
  const server = section.text('server');
  if (server === undefined) {
    throw new Error(`${section.where}.server: is missing; give the URL of the API server, https://HOST:PORT`);
  }
  const url = URL.parse(server);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Error(`${section.where}.server: "${server}" is not a URL like https://HOST:PORT`);
  }
  if (section.has('proxy-url')) {
    throw new Error(`${section.where}.proxy-url: proxies are not supported; give an address that can be reached directly`);
  }
  const isVerified = !section.isTrue('insecure-skip-tls-verify');
  const authority = textSourceOf(section, place, 'certificate-authority', reading);
  if (!isVerified && authority !== undefined) {
    throw new Error(`${section.where}: insecure-skip-tls-verify and a certificate-authority exclude each other; remove one`);
  }
  return { url, authority, isVerified, serverName: section.text('tls-server-name') };
}

/** The first file that names something wins, as in kubectl. Missing files are passed over only when there are several. */
async function merge(paths: readonly string[], mayMiss: boolean): Promise<Merged> {
  const { parse } = await import('yaml');
  const merged = { contexts: new Map<string, Named>(), clusters: new Map<string, Named>(), users: new Map<string, Named>() };
  const files: string[] = [];
  let currentContext: string | undefined;
  for (const path of paths) {
    const file = resolve(path);
    if (mayMiss && !(await exists(file))) {
      continue;
    }
    files.push(file);
    const root = new Section(await parsed(file, parse), `kubeconfig ${file}`);
    currentContext ??= root.text('current-context');
    for (const [list, key] of LISTS) {
      collect(root, file, list, key, merged[list]);
    }
  }
  if (files.length === 0) {
    throw new Error(`KUBECONFIG: none of its files exists: ${paths.join(', ')}`);
  }
  return { ...merged, files, currentContext };
}

function collect(root: Section, file: string, list: 'contexts' | 'clusters' | 'users', key: string, into: Map<string, Named>): void {
  for (const item of root.sections(list)) {
    const name = item.text('name');
    if (name === undefined) {
      throw new Error(`${item.where}.name: is missing`);
    }
    if (!into.has(name)) {
      const section = new Section(item.raw(key) ?? {}, `kubeconfig ${file}: ${list}[name=${name}].${key}`);
      into.set(name, { section, place: { file, directory: dirname(file) } });
    }
  }
}

async function parsed(file: string, parse: (text: string) => unknown): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new Error(`kubeconfig ${file}: ${error instanceof Error ? error.message : String(error)}; give the path of a readable file`, {
      cause: error,
    });
  }
  return parsedText(text, `kubeconfig ${file}`, parse, `; look at it with kubectl config view --kubeconfig ${file}`);
}

function parsedText(text: string, source: string, parse: (text: string, options: { logLevel: 'error' }) => unknown, remedy = ''): unknown {
  try {
    // A warning would be printed past the log, with the line that it is about, which may hold a token.
    return parse(text, { logLevel: 'error' }) ?? {};
  } catch (error) {
    // The parser's message quotes the line, which may hold a token.
    throw new Error(`${source}: is not YAML${placeOf(error)}${remedy}`, { cause: 'syntax error' });
  }
}

/** `, line 2, column 25`, where the parser says it. */
function placeOf(error: unknown): string {
  const places: unknown = error instanceof Error && 'linePos' in error ? error.linePos : undefined;
  const [first] = Array.isArray(places) ? (places as readonly { line: number; col: number }[]) : [];
  return first === undefined ? '' : `, line ${first.line}, column ${first.col}`;
}

function find(among: ReadonlyMap<string, Named>, name: string, kind: string, where: string): Named {
  const found = among.get(name);
  if (found === undefined) {
    throw new Error(`${where}: there is no ${kind} "${name}"; name one of: ${names(among)}`);
  }
  return found;
}

function names(map: ReadonlyMap<string, unknown>): string {
  return [...map.keys()].join(', ') || '(none)';
}

import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Document } from 'yaml';
import type { ConfigMap, KubeObject, Secret } from '../../ports/objects.ts';
import { FENCE_NAMESPACE } from '../run/scene-configuration.ts';
import { ConfigurationRefused } from './refusal.ts';

/** ConfigMaps and Secrets of one folder, in the fence namespace of the drill. */
export interface ConfigurationFolder {
  path: string;
  configMaps: readonly ConfigMap[];
  secrets: readonly Secret[];
  /** `ConfigMap fence-config-a` → the file that it stands in. */
  files: ReadonlyMap<string, string>;
  notes: readonly string[];
}

type Manifest = Omit<KubeObject, 'metadata'> & {
  metadata?: { name?: unknown; namespace?: unknown };
  items?: unknown;
  data?: unknown;
  stringData?: unknown;
};

const ENDINGS = new Set(['.yaml', '.yml', '.json']);
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Reads every YAML file of the folder: several documents, and Lists, are taken apart. Throws `ConfigurationRefused`. */
export function readFolder(path: string): ConfigurationFolder {
  const reading = new Reading();
  for (const file of filesIn(path)) reading.read(path, file);
  if (reading.problems.length === 0 && reading.configMaps.length === 0) reading.problems.push('no YAML file here holds a ConfigMap');
  if (reading.problems.length > 0) throw new ConfigurationRefused(path, reading.problems);
  const { configMaps, secrets, files, notes } = reading;
  return { path, configMaps, secrets, files, notes };
}

function filesIn(path: string): string[] {
  try {
    return readdirSync(path)
      .filter((name) => ENDINGS.has(extname(name)))
      .sort();
  } catch (error) {
    throw new ConfigurationRefused(path, [`the folder cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`]);
  }
}

class Reading {
  readonly configMaps: ConfigMap[] = [];
  readonly secrets: Secret[] = [];
  readonly files = new Map<string, string>();
  readonly notes: string[] = [];
  readonly problems: string[] = [];

  read(folder: string, file: string): void {
    const documents = parseAllDocuments(readFileSync(join(folder, file), 'utf8'));
    for (const document of documents as readonly Document[]) {
      for (const { message } of document.errors) this.problems.push(`${file}: ${message.split('\n')[0] ?? ''}`);
      if (document.errors.length === 0) this.#take(file, document.toJS());
    }
  }

  #take(file: string, value: unknown): void {
    if (value === null || value === undefined) return;
    const object = (typeof value === 'object' ? value : {}) as Manifest;
    const { kind } = object;
    // The seed writes its ConfigMaps as a bare YAML list.
    const items = Array.isArray(value) ? value : kind === 'List' || kind === 'ConfigMapList' || kind === 'SecretList' ? object.items : undefined;
    if (Array.isArray(items)) for (const item of items) this.#take(file, item);
    else if (kind === 'ConfigMap' || kind === 'Secret') this.#keep(file, kind, object);
    else
      this.notes.push(`${file}: ${typeof kind === 'string' ? `a ${kind}` : 'a document without kind'} is left out; ConfigMaps and Secrets are read`);
  }

  #keep(file: string, kind: 'ConfigMap' | 'Secret', object: Manifest): void {
    const { name, namespace } = object.metadata ?? {};
    if (typeof name !== 'string' || name === '') {
      this.problems.push(`${file}: a ${kind} has no metadata.name`);
      return;
    }
    const place = `${kind} ${name}`;
    const earlier = this.files.get(place);
    if (earlier !== undefined) this.problems.push(`${file}: ${place} is already in ${earlier}`);
    this.files.set(place, file);
    if (typeof namespace === 'string' && namespace !== FENCE_NAMESPACE)
      this.notes.push(`${file}: ${place} is loaded into namespace ${FENCE_NAMESPACE} instead of ${namespace}`);
    const metadata = { name, namespace: FENCE_NAMESPACE };
    const data = this.#texts(file, place, 'data', object.data);
    if (kind === 'ConfigMap') this.configMaps.push({ metadata, data });
    else
      this.secrets.push({
        metadata,
        data: { ...this.#encoded(file, place, data), ...base64(this.#texts(file, place, 'stringData', object.stringData)) },
      });
  }

  #texts(file: string, place: string, field: string, value: unknown): Record<string, string> {
    if (value === undefined || value === null) return {};
    const entries = typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : undefined;
    if (entries === undefined) this.problems.push(`${file}: ${place}, ${field} is not a map of texts`);
    for (const [key, text] of entries ?? [])
      if (typeof text !== 'string') this.problems.push(`${file}: ${place}, key ${key} is not a text: quote it, or write it as a block with |-`);
    return Object.fromEntries((entries ?? []).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  }

  #encoded(file: string, place: string, data: Record<string, string>): Record<string, string> {
    const entries = Object.entries(data).map(([key, text]) => [key, text.replaceAll(/\s/g, '')] as const);
    for (const [key, text] of entries)
      if (!BASE64.test(text)) this.problems.push(`${file}: ${place}, key ${key} is not base64: plain text belongs under stringData`);
    return Object.fromEntries(entries);
  }
}

function base64(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
}

/** The same for reading: as an agent gets them. */
export function decoded(secret: Secret | undefined): Record<string, string> | undefined {
  if (secret === undefined) return undefined;
  return Object.fromEntries(Object.entries(secret.data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')]));
}

import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml';
import type { Document, Node as YamlNode, YAMLMap, YAMLSeq } from 'yaml';
import { REMEDIES_LABEL } from '../cluster-checks.ts';
import { REMEDY_GROUP } from '../remedies.ts';
import type { ConfigMap, Node, ObjectMeta, Secret } from '../../ports/objects.ts';

/** One file of manifests: YAML with any number of documents, or JSON. */
export interface ManifestFile {
  /** As it is told in messages. */
  path: string;
  text: string;
}

/** Something wrong with a file itself. */
export interface FileProblem {
  file: string;
  line: number | undefined;
  message: string;
}

export interface FilePlace {
  file: string;
  line: number;
}

type Kind = 'ConfigMap' | 'Secret' | 'Node';

/** Where an object stands, and from which line of the file the text of each data key begins. */
interface Written extends FilePlace {
  keys: ReadonlyMap<string, { line: number; isLineByLine: boolean }>;
}

const REMEDY_KEY = 'configuration.yaml';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** ConfigMaps, Secrets and Nodes of some files: several documents, Lists and bare lists are taken apart. Nothing is thrown. */
export class Manifests {
  readonly configMaps: ConfigMap[] = [];
  /** `data` in base64, as the API has it; `stringData` is put in. */
  readonly secrets: Secret[] = [];
  readonly nodes: Node[] = [];
  readonly problems: FileProblem[] = [];
  /** What was left out, and what is read otherwise than it is written. */
  readonly notes: string[] = [];
  /** Files that hold at least one object that is read. */
  readonly understood = new Set<string>();
  readonly #written = new Map<string, Written>();
  readonly #namespace: string;

  /** `namespace`: the fence namespace, into which everything is read. */
  constructor(files: readonly ManifestFile[], namespace: string) {
    this.#namespace = namespace;
    for (const { path, text } of files) this.#file(path, text);
  }

  /** The line of a file that a place such as `ConfigMap fence-config-a, key config.properties, line 3` names, as near as it is known. */
  locate(where: string): FilePlace | undefined {
    const [, object = '', key, line] = /^((?:ConfigMap|Secret|Node) [^\s,:]+)(?:, key ([^\s,]+))?(?:, line (\d+))?/.exec(where) ?? [];
    const written = this.#written.get(object);
    if (written === undefined) return undefined;
    const text = key === undefined ? undefined : written.keys.get(key);
    if (text === undefined) return { file: written.file, line: written.line };
    const further = line === undefined ? 0 : Number(line) - 1;
    return { file: written.file, line: text.line + (text.isLineByLine ? further : 0) };
  }

  #file(file: string, text: string): void {
    const counter = new LineCounter();
    const documents = parseAllDocuments(text, { lineCounter: counter, prettyErrors: false });
    for (const document of documents as readonly Document[]) {
      const lineOf = (offset: number): number => counter.linePos(offset).line;
      for (const { message, pos } of document.errors) this.#problem(file, lineOf(pos[0]), `is not YAML: ${message.split('\n')[0] ?? ''}`);
      if (document.errors.length === 0 && isRemedyDocument(document)) this.#remedies(file, document, text, lineOf);
      else if (document.errors.length === 0) this.#document(file, document, lineOf);
    }
  }

  /** A Configuration of remedies in a file of its own, as the controller reads it too: it is told by the lines of the file. */
  #remedies(file: string, document: Document, text: string, lineOf: (offset: number) => number): void {
    const [begin, , end] = document.contents?.range ?? [0, 0, text.length];
    const name = `${file}#${this.configMaps.length}`;
    const line = lineOf(begin);
    if (!this.place('ConfigMap', name, { file, line, keys: new Map([[REMEDY_KEY, { line, isLineByLine: true }]]) })) return;
    this.configMaps.push({ metadata: { name, labels: { [REMEDIES_LABEL]: '' } }, data: { [REMEDY_KEY]: text.slice(begin, end) } });
  }

  #document(file: string, document: Document, lineOf: (offset: number) => number): void {
    try {
      new DocumentReading(file, document, lineOf, this).take(document.contents);
    } catch (error) {
      // The parser's words quote the alias, which may be the begin of a password.
      if (!(error instanceof ReferenceError)) throw error;
      const line = document.contents?.range === undefined || document.contents.range === null ? undefined : lineOf(document.contents.range[0]);
      this.#problem(file, line, 'is not YAML: it refers to an anchor that is not there; quote values that begin with *');
    }
  }

  #problem(file: string, line: number | undefined, message: string): void {
    this.problems.push({ file, line, message });
  }

  /** False when an object of this name stands elsewhere already. */
  place(kind: Kind, name: string, written: Written): boolean {
    const object = `${kind} ${name}`;
    this.understood.add(written.file);
    const earlier = this.#written.get(object);
    if (earlier !== undefined) this.#problem(written.file, written.line, `${object} is already in ${earlier.file}, line ${earlier.line}: keep one`);
    else this.#written.set(object, written);
    return earlier === undefined;
  }

  /** An object that the controller would never see, although it is checked here. */
  moved(file: string, line: number, object: string, namespace: unknown): void {
    if (typeof namespace === 'string' && namespace !== this.#namespace)
      this.#problem(
        file,
        line,
        `${object} is of namespace ${namespace.slice(0, 63)}, and only ${this.#namespace} is read: mend metadata.namespace, or name that one by --fence-namespace`,
      );
  }
}

/** `apiVersion: node-remedy/v1alpha`, whatever else it says: what is wrong with it is told by whoever reads remedies. */
function isRemedyDocument({ contents }: Document): boolean {
  return isMap(contents) && String(contents.get('apiVersion')).startsWith(`${REMEDY_GROUP}/`);
}

class DocumentReading {
  readonly #file: string;
  readonly #document: Document;
  readonly #lineOf: (offset: number) => number;
  readonly #into: Manifests;
  /** Lists that were taken apart: one that holds itself has no end, and ten that each hold another ten times have ten billion items. */
  readonly #lists = new Set<YAMLSeq>();

  constructor(file: string, document: Document, lineOf: (offset: number) => number, into: Manifests) {
    this.#file = file;
    this.#document = document;
    this.#lineOf = lineOf;
    this.#into = into;
  }

  take(node: unknown): void {
    const found = isAlias(node) ? node.resolve(this.#document) : node;
    if (found === null || found === undefined || (isScalar(found) && found.value === null)) return;
    // The seed writes its ConfigMaps as a bare YAML list.
    if (isSeq(found)) this.#list(found);
    else if (isMap(found)) this.#map(found);
    else this.#leaveOut('a document that is no object');
  }

  #list(list: YAMLSeq): void {
    if (this.#lists.has(list)) {
      this.#into.notes.push(`${this.#file}: the list of line ${this.#line(list)} is named again by an alias, and read once`);
      return;
    }
    this.#lists.add(list);
    for (const item of list.items) this.take(item);
  }

  #map(map: YAMLMap): void {
    const kind = map.get('kind');
    const items = map.get('items', true);
    if (typeof kind === 'string' && kind.endsWith('List') && isSeq(items)) this.take(items);
    else if (kind === 'ConfigMap' || kind === 'Secret' || kind === 'Node') this.#object(kind, map);
    else this.#leaveOut(typeof kind === 'string' ? `a ${kind}` : 'a document without kind');
  }

  #leaveOut(what: string): void {
    this.#into.notes.push(`${this.#file}: ${what} is left out; ConfigMaps, Secrets and Nodes are read`);
  }

  #object(kind: Kind, map: YAMLMap): void {
    const object = map.toJS(this.#document) as {
      metadata?: Partial<ObjectMeta>;
      spec?: unknown;
      status?: unknown;
      data?: unknown;
      stringData?: unknown;
    };
    const line = this.#line(map);
    const name: unknown = object.metadata?.name;
    if (typeof name !== 'string' || name === '') {
      this.#problem(line, `a ${kind} has no metadata.name`);
      return;
    }
    const keys = new Map([...this.#keys(map.get('data', true)), ...this.#keys(map.get('stringData', true))]);
    if (!this.#into.place(kind, name, { file: this.#file, line, keys })) return;
    if (kind === 'Node') {
      this.#into.nodes.push({
        ...(object as unknown as Node),
        metadata: { ...object.metadata, name },
        spec: asRecord(object.spec),
        status: asRecord(object.status),
      });
      return;
    }
    this.#into.moved(this.#file, line, `${kind} ${name}`, object.metadata?.namespace);
    const labels = object.metadata?.labels;
    const metadata = { name, ...(labels === undefined ? {} : { labels }) };
    const data = this.#texts(`${kind} ${name}`, 'data', object.data, keys);
    if (kind === 'ConfigMap') this.#into.configMaps.push({ metadata, data });
    else
      this.#into.secrets.push({
        metadata,
        data: { ...this.#encoded(name, data, keys), ...base64(this.#texts(`Secret ${name}`, 'stringData', object.stringData, keys)) },
      });
  }

  #keys(node: unknown): [string, { line: number; isLineByLine: boolean }][] {
    const map = isAlias(node) ? node.resolve(this.#document) : node;
    if (!isMap(map)) return [];
    return map.items.flatMap(({ key, value }) => {
      if (!isScalar(key) || !isScalar(value)) return [];
      const isBlock = value.type === 'BLOCK_LITERAL' || value.type === 'BLOCK_FOLDED';
      const line = this.#line(value) + (isBlock ? 1 : 0);
      return [[String(key.value), { line, isLineByLine: value.type === 'BLOCK_LITERAL' }] as [string, { line: number; isLineByLine: boolean }]];
    });
  }

  #line(node: YamlNode): number {
    return this.#lineOf(node.range?.[0] ?? 0);
  }

  #texts(object: string, field: string, value: unknown, keys: Written['keys']): Record<string, string> {
    if (value === undefined || value === null) return {};
    const isMapping = typeof value === 'object' && !Array.isArray(value);
    if (!isMapping) this.#problem(undefined, `${object}: ${field} is not a map of texts`);
    const entries: [string, unknown][] = isMapping ? Object.entries(value) : [];
    for (const [key, text] of entries)
      if (typeof text !== 'string')
        this.#problem(keys.get(key)?.line, `${object}, key ${key} is not a text: quote it, or write it as a block with |-`);
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  }

  #encoded(name: string, data: Readonly<Record<string, string>>, keys: Written['keys']): Record<string, string> {
    const entries = Object.entries(data).map(([key, text]) => [key, text.replaceAll(/\s/g, '')] as const);
    for (const [key, text] of entries)
      if (!BASE64.test(text)) this.#problem(keys.get(key)?.line, `Secret ${name}, key ${key} is not base64: plain text belongs under stringData`);
    return Object.fromEntries(entries);
  }

  #problem(line: number | undefined, message: string): void {
    this.#into.problems.push({ file: this.#file, line, message });
  }
}

function asRecord(value: unknown): Record<string, never> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, never>) : {};
}

function base64(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
}

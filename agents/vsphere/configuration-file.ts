import { yamlValue } from '../shared/cloud/yaml.ts';
/** One vCenter of a cloud provider's configuration. */
export interface ConfiguredServer {
  server: string;
  port: number | undefined;
  user: string | undefined;
  password: string | undefined;
  caFile: string | undefined;
  thumbprint: string | undefined;
  isInsecure: boolean;
  /** The Kubernetes Secret that holds user and password, as `namespace/name`. */
  secret: string | undefined;
}

export interface ConfiguredServers {
  servers: readonly ConfiguredServer[];
  /** Folder with files `<server>.username` and `<server>.password`. */
  secretsFolder: string | undefined;
}

type Section = Readonly<Record<string, string>>;

/**
 * `vsphere.conf` of kubernetes/cloud-provider-vsphere (pkg/common/config: YAML, and INI before that) and of the CSI driver (INI); undefined where it is neither.
 * Spellings differ by versions: `insecure-flag`, `insecureFlag`, `insecure_flag`.
 */
export function configuredServers(text: string): ConfiguredServers | undefined {
  const { global = {}, named } = /^\s*\[/m.test(withoutComments(text)) ? iniSections(text) : (yamlSections(text) ?? { named: undefined });
  if (named === undefined) return undefined;
  const servers = new Map(Object.entries(named));
  const alone = global['server'];
  if (alone !== undefined && servers.size === 0) servers.set(alone, {});
  return {
    servers: [...servers].map(([name, section]) => serverOf(name, { ...global, server: '', ...section })),
    secretsFolder: global['secretsdirectory'],
  };
}

function serverOf(name: string, section: Section): ConfiguredServer {
  const { server = '', port, user, password, cafile, thumbprint, insecureflag, secretname, secretnamespace } = section;
  return {
    server: server === '' ? name : server,
    port: port !== undefined && /^[1-9]\d{0,4}$/.test(port) ? Number(port) : undefined,
    user,
    password,
    caFile: cafile,
    thumbprint,
    isInsecure: /^(true|1|yes|on)$/i.test(insecureflag ?? ''),
    secret: secretname === undefined ? undefined : `${secretnamespace ?? 'kube-system'}/${secretname}`,
  };
}

/** Keys without what spellings differ in; values as text, empty ones left out. */
function sectionOf(value: unknown): Section {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  const texts = Object.entries(value).filter(
    (entry): entry is [string, string | number | boolean] => ['string', 'number', 'boolean'].includes(typeof entry[1]) && entry[1] !== '',
  );
  return Object.fromEntries(texts.map(([key, text]) => [plainKey(key), String(text)]));
}

function plainKey(key: string): string {
  return key.toLowerCase().replaceAll(/[-_]/g, '');
}

interface Sections {
  global: Section;
  named: Readonly<Record<string, Section>>;
}

function yamlSections(text: string): Sections | undefined {
  const read = yamlValue(text);
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return undefined;
  const sections = Object.fromEntries(Object.entries(read).map(([key, value]) => [plainKey(key), value as unknown]));
  const named = sections['vcenter'] ?? sections['virtualcenter'] ?? {};
  if (typeof named !== 'object') return undefined;
  return {
    global: sectionOf(sections['global']),
    named: Object.fromEntries(Object.entries(named).map(([name, value]) => [name, sectionOf(value)])),
  };
}

/** As git writes configuration: `[Global]`, `[VirtualCenter "name"]`, `key = "value"`. */
function iniSections(text: string): Sections {
  let global: Section = {};
  const named = new Map<string, Section>();
  let add: (key: string, value: string) => void = () => undefined;
  for (const line of withoutComments(text).split(/\r?\n/)) {
    const [, section, name] = /^\s*\[\s*([A-Za-z]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*$/.exec(line) ?? [];
    if (section !== undefined) {
      const kind = section.toLowerCase();
      const centre = unescaped(name ?? '');
      if (kind === 'virtualcenter') named.set(centre, named.get(centre) ?? {});
      add = (key, value) => {
        if (kind === 'global') global = { ...global, [key]: value };
        if (kind === 'virtualcenter') named.set(centre, { ...named.get(centre), [key]: value });
      };
      continue;
    }
    const [, key, quoted, bare] = /^\s*([A-Za-z][\w-]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|(.*?))\s*$/.exec(line) ?? [];
    const value = quoted === undefined ? (bare ?? '') : unescaped(quoted);
    if (key !== undefined && value !== '') add(plainKey(key), value);
  }
  return { global, named: Object.fromEntries(named) };
}

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*[#;].*$/gm, '');
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, (_whole, letter: string) => (letter === 'n' ? '\n' : letter === 't' ? '\t' : letter));
}

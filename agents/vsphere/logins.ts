import type { HostEnvironment } from '../../src/ports/agents.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import { firstCredentials, isYes, namedSource, type Found } from '../shared/cloud/credentials.ts';
import { HTTPS_PORT, placeText } from '../shared/web/place.ts';
import type { Place, Trust } from '../shared/web/trusted-socket.ts';
import { plainFingerprint } from '../shared/web/parameters.ts';
import { configuredServers, type ConfiguredServer, type ConfiguredServers } from './configuration-file.ts';
import { HOW_SHA256, isWeakFingerprint, placeOf, type VsphereSettings } from './parameters.ts';

/** Who we are, and to whom. */
export interface Login {
  place: Place;
  username: string;
  password: string;
  trust: Trust;
  /** What a person should know where the server is not trusted. */
  hint: string;
}

interface Offer {
  server: string;
  port?: number | undefined;
  username: string | undefined;
  password: string | undefined;
  /** Files with certificates (PEM). */
  caFiles?: readonly string[];
  thumbprint?: string | undefined;
  isInsecure?: boolean;
  /** Names of what the offer lacks, for messages. */
  of: { username: string; password: string };
}

type LoginFound = Found<Login>;

/** Where kubernetes/cloud-provider-vsphere and the CSI driver mount their configuration. */
const CONFIGURATION_PATHS = ['/etc/cloud/vsphere.conf', '/etc/cloud/csi-vsphere.conf'];
/** `DefaultSecretDirectory` of kubernetes/cloud-provider-vsphere, pkg/common/config/config.go. */
const SECRETS_FOLDER = '/etc/cloud/secrets';

/** A password leaves only for the server that its own source names: whoever may write `ip` into a ConfigMap could have it sent to himself. */
export class Logins {
  readonly #settings: VsphereSettings;
  readonly #host: HostEnvironment;

  constructor(settings: VsphereSettings, host: HostEnvironment) {
    this.#settings = settings;
    this.#host = host;
  }

  /** The first that is complete; rejects `Misconfigured` with all that was tried. */
  async find(call: Call<CallTarget>): Promise<Login> {
    const { credentials } = await firstCredentials(call, [
      namedSource('parameters', () => this.#ofParameters()),
      namedSource('environment VSPHERE_*', () => this.#ofEnvironment()),
      namedSource('environment GOVC_*', () => this.#ofGovc()),
      namedSource('configuration of the cloud provider', () => this.#ofConfiguration(call)),
    ]);
    return credentials;
  }

  #ofParameters(): LoginFound {
    const { place, user, trust } = this.#settings;
    if (user === undefined) return { absent: 'username and password are not set' };
    if (place === undefined) return { absent: 'ip is not set' };
    return { credentials: { place, ...user, trust, hint: '' } };
  }

  #ofEnvironment(): Promise<LoginFound> | LoginFound {
    const server = this.#variable('VSPHERE_SERVER', 'VSPHERE_VCENTER');
    if (server === undefined) return { absent: 'VSPHERE_SERVER is not set' };
    return this.#accepted('VSPHERE_SERVER', {
      server,
      port: portOf(this.#host.variable('VSPHERE_VCENTER_PORT')),
      username: this.#variable('VSPHERE_USERNAME', 'VSPHERE_USER'),
      password: this.#host.variable('VSPHERE_PASSWORD'),
      caFiles: filesOf(this.#host.variable('VSPHERE_CAFILE')),
      thumbprint: this.#host.variable('VSPHERE_THUMBPRINT'),
      isInsecure: isYes(this.#host.variable('VSPHERE_INSECURE')),
      of: { username: 'VSPHERE_USERNAME', password: 'VSPHERE_PASSWORD' },
    });
  }

  #ofGovc(): Promise<LoginFound> | LoginFound {
    const url = this.#host.variable('GOVC_URL');
    if (url === undefined) return { absent: 'GOVC_URL is not set' };
    const [, username, password] = /^(?:https?:\/\/)?([^/@:]*)(?::([^/@]*))?@/i.exec(url) ?? [];
    return this.#accepted('GOVC_URL', {
      server: url,
      username: this.#host.variable('GOVC_USERNAME') ?? decoded(username),
      password: this.#host.variable('GOVC_PASSWORD') ?? decoded(password),
      caFiles: filesOf(this.#host.variable('GOVC_TLS_CA_CERTS')),
      isInsecure: isYes(this.#host.variable('GOVC_INSECURE')),
      of: { username: 'GOVC_USERNAME', password: 'GOVC_PASSWORD' },
    });
  }

  async #ofConfiguration(call: Call<CallTarget>): Promise<LoginFound> {
    const named = this.#host.variable('VSPHERE_CONFIG');
    const paths = named === undefined ? CONFIGURATION_PATHS : [named];
    for (const path of paths) {
      const text = await this.#host.readFile(path);
      if (text === undefined) continue;
      const configured = configuredServers(text);
      if (configured === undefined) throw call.error('Misconfigured', `${path} is neither YAML nor INI of a vSphere cloud provider`);
      return this.#ofServers(call, path, configured);
    }
    return { absent: `there is no ${paths.join(' and no ')}` };
  }

  async #ofServers(call: Call<CallTarget>, path: string, { servers, secretsFolder }: ConfiguredServers): Promise<LoginFound> {
    const { place } = this.#settings;
    const matching = servers.filter((each) => place === undefined || isSame(place, placeOf(each.server, { port: each.port })));
    const names = servers.map(({ server }) => server).join(', ');
    if (matching.length > 1)
      throw call.error('Misconfigured', `${path} names ${matching.length} vCenters (${names}): say with ip= which one is meant`);
    const [chosen] = matching;
    if (chosen === undefined) return { absent: servers.length === 0 ? `${path} names no vCenter` : `${path} names ${names} only` };
    const login = await this.#userOf(chosen, secretsFolder);
    return this.#accepted(path, { ...chosen, ...login, caFiles: filesOf(chosen.caFile) });
  }

  /** As written, or in files as a Secret is mounted. */
  async #userOf(
    { server, user, password, secret }: ConfiguredServer,
    folder: string | undefined,
  ): Promise<Pick<Offer, 'username' | 'password' | 'of'>> {
    const base = `${folder ?? SECRETS_FOLDER}/${server}`;
    const hint = secret === undefined ? '' : ` (mount Secret ${secret} there)`;
    return {
      username: user ?? trimmed(await this.#host.readFile(`${base}.username`)),
      password: password ?? trimmed(await this.#host.readFile(`${base}.password`)),
      of: { username: `${base}.username${hint}`, password: `${base}.password${hint}` },
    };
  }

  async #accepted(source: string, offer: Offer): Promise<LoginFound> {
    const { place: wanted, user, trust } = this.#settings;
    const place = placeOf(offer.server, { port: offer.port });
    if (place === undefined) return { absent: `${source} names no host` };
    if (wanted !== undefined && !isSame(wanted, place)) return { absent: `${source} names ${placeText(place, HTTPS_PORT)}` };
    const { username, password } = user ?? offer;
    if (username === undefined) return { absent: `${offer.of.username} is not set` };
    if (password === undefined) return { absent: `${offer.of.password} is not set` };
    return { credentials: { place, username, password, ...(await this.#trusted(source, offer, trust)) } };
  }

  /** What a method says of trust goes first; an `insecure` of others is never followed, and a SHA-1 thumbprint neither. */
  async #trusted(source: string, { caFiles = [], thumbprint, isInsecure }: Offer, trust: Trust): Promise<Pick<Login, 'trust' | 'hint'>> {
    if (trust.insecure || trust.ca !== undefined || trust.fingerprint !== undefined) return { trust, hint: '' };
    const certificates = (await Promise.all(caFiles.map((path) => this.#host.readFile(path)))).filter((text) => text !== undefined);
    const isPin = thumbprint !== undefined && /^[0-9a-f]{64}$/.test(plainFingerprint(thumbprint.trim()) ?? '');
    const hints = [
      ...(thumbprint !== undefined && isWeakFingerprint(thumbprint) ? [`the thumbprint of ${source} is SHA-1 and too weak to trust`] : []),
      ...(isInsecure === true ? [`the insecure flag of ${source} is not followed: only ssl_insecure=yes is`] : []),
    ];
    return {
      trust: {
        ...trust,
        ca: certificates.length === 0 ? undefined : certificates.join('\n'),
        fingerprint: isPin ? plainFingerprint(thumbprint.trim()) : undefined,
      },
      hint: [...hints, HOW_SHA256].join('; '),
    };
  }

  #variable(...names: readonly string[]): string | undefined {
    for (const name of names) if (this.#host.variable(name) !== undefined) return this.#host.variable(name);
    return undefined;
  }
}

function isSame(left: Place, right: Place | undefined): boolean {
  return right !== undefined && left.host === right.host && left.port === right.port;
}

function portOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,4}$/.test(text) ? Number(text) : undefined;
}

function filesOf(text: string | undefined): readonly string[] {
  return (text ?? '').split(':').filter((path) => path !== '');
}

function trimmed(text: string | undefined): string | undefined {
  const plain = text?.replace(/\r?\n$/, '');
  return plain === '' ? undefined : plain;
}

/** A percent-encoded part of a URL; as it stands where it is not one. */
function decoded(part: string | undefined): string | undefined {
  if (part === undefined || part === '') return undefined;
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}

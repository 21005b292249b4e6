import type { HostEnvironment } from '../../src/ports/agents.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import { firstCredentials, isYes, namedSource, type Found } from '../shared/cloud/credentials.ts';
import type { Place, Trust } from '../shared/web/trusted-socket.ts';
import { configuredClusters, type ConfiguredCluster } from './configuration-file.ts';
import { authIn, placesOf, placeText, type ProxmoxAuth, type ProxmoxSettings } from './parameters.ts';

/** Who we are, and to whom. */
export interface Login {
  /** At least one; hosts of one cluster. */
  places: readonly Place[];
  auth: ProxmoxAuth;
  trust: Trust;
  /** What to do where the certificate is not trusted. */
  hint: string;
  source: string;
}

type LoginFound = Found<Omit<Login, 'source'>>;

/** What one place says, as far as it does. */
interface Offer {
  endpoint: string | undefined;
  auth: ProxmoxAuth | undefined;
  isInsecure: boolean;
  /** What to set where something is missing. */
  names: { endpoint: string; auth: string };
}

/** As the chart of the cloud controller manager mounts it. */
const CONFIGURATION_PATH = '/etc/proxmox/config.yaml';
const HOW_FINGERPRINT = '`pvenode cert info` on the host shows it';

/** Where address and credentials are found; nothing is sent to a host that its own place does not name. */
export class Logins {
  readonly #settings: ProxmoxSettings;
  readonly #host: HostEnvironment;

  constructor(settings: ProxmoxSettings, host: HostEnvironment) {
    this.#settings = settings;
    this.#host = host;
  }

  /** The first place that is complete; `Misconfigured` names all that were tried. */
  async find(call: Call<CallTarget>): Promise<Login> {
    const { credentials, source: name } = await firstCredentials(call, [
      namedSource('parameters', () => this.#ofParameters()),
      namedSource('environment PROXMOX_VE_*', () => this.#ofTerraform()),
      namedSource('environment PROXMOX_URL', () => this.#ofClusterApi()),
      namedSource('configuration of the cloud controller manager', () => this.#ofConfiguration(call)),
    ]);
    return { ...credentials, source: name };
  }

  #ofParameters(): LoginFound {
    const { places, auth, trust } = this.#settings;
    if (auth === undefined) return { absent: 'neither api_token, nor token_id and token_secret, nor password is set' };
    if (places === undefined) return { absent: 'endpoint is not set' };
    return { credentials: { places, auth, trust, hint: '' } };
  }

  /** As Terraform's provider bpg/proxmox reads it. */
  #ofTerraform(): LoginFound {
    const variable = (name: string): string | undefined => this.#host.variable(`PROXMOX_VE_${name}`);
    const [username, password] = [variable('USERNAME'), variable('PASSWORD')];
    return this.#accepted('PROXMOX_VE_ENDPOINT', {
      endpoint: variable('ENDPOINT'),
      auth: authIn({ api_token: variable('API_TOKEN'), username, password: username === undefined ? undefined : password }),
      isInsecure: isYes(variable('INSECURE')),
      names: { endpoint: 'PROXMOX_VE_ENDPOINT', auth: 'PROXMOX_VE_API_TOKEN, or PROXMOX_VE_USERNAME and PROXMOX_VE_PASSWORD,' },
    });
  }

  /** As ionos-cloud/cluster-api-provider-proxmox reads it. */
  #ofClusterApi(): LoginFound {
    return this.#accepted('PROXMOX_URL', {
      endpoint: this.#host.variable('PROXMOX_URL'),
      auth: authIn({ token_id: this.#host.variable('PROXMOX_TOKEN'), token_secret: this.#host.variable('PROXMOX_SECRET') }),
      isInsecure: false,
      names: { endpoint: 'PROXMOX_URL', auth: 'PROXMOX_TOKEN and PROXMOX_SECRET' },
    });
  }

  async #ofConfiguration(call: Call<CallTarget>): Promise<LoginFound> {
    const path = this.#host.variable('NODEFENCE_PROXMOX_CONFIG') ?? CONFIGURATION_PATH;
    const text = await this.#host.readFile(path);
    if (text === undefined) return { absent: `there is no ${path}` };
    const clusters = configuredClusters(text);
    if (clusters === undefined)
      throw call.error('Misconfigured', `${path} is no configuration of the cloud controller manager: it names no clusters`);
    const { places, region } = this.#settings;
    const matching = clusters.filter(
      (cluster) => (region === undefined || cluster.region === region) && (places === undefined || isWithin(placesOf(cluster.url), places)),
    );
    const names = clusters.map((cluster) => cluster.region ?? cluster.url).join(', ');
    if (matching.length > 1)
      throw call.error('Misconfigured', `${path} names ${matching.length} clusters (${names}): say with region= or endpoint= which one is meant`);
    const [chosen] = matching;
    if (chosen === undefined) return { absent: clusters.length === 0 ? `${path} names no cluster` : `${path} names ${names} only` };
    return this.#ofCluster(path, chosen);
  }

  async #ofCluster(path: string, cluster: ConfiguredCluster): Promise<LoginFound> {
    const ofFile = async (file: string | undefined): Promise<string | undefined> =>
      file === undefined ? undefined : (await this.#host.readFile(file))?.trim();
    const token_id = cluster.tokenId ?? (await ofFile(cluster.tokenIdFile));
    const token_secret = cluster.tokenSecret ?? (await ofFile(cluster.tokenSecretFile));
    const { username, password } = cluster;
    return this.#accepted(path, {
      endpoint: cluster.url,
      auth: authIn({ token_id, token_secret, username, password: username === undefined ? undefined : password }),
      isInsecure: cluster.isInsecure,
      names: { endpoint: `url in ${path}`, auth: `token_id and token_secret in ${path}` },
    });
  }

  #accepted(source: string, { endpoint, auth, isInsecure, names }: Offer): LoginFound {
    if (endpoint === undefined) return { absent: `${names.endpoint} is not set` };
    const places = placesOf(endpoint);
    if (places === undefined) return { absent: `${names.endpoint} names no host` };
    const { places: wanted, auth: given, trust } = this.#settings;
    if (wanted !== undefined && !isWithin(places, wanted)) return { absent: `${source} names ${places.map(placeText).join(', ')}` };
    const chosen = given ?? auth;
    if (chosen === undefined) return { absent: `${names.auth} is not set` };
    const isOwnTrust = trust.insecure || trust.ca !== undefined || trust.fingerprint !== undefined;
    const hints = isInsecure ? [`the insecure flag of ${source} is not followed: only ssl_insecure=yes is`] : [];
    return { credentials: { places: wanted ?? places, auth: chosen, trust, hint: isOwnTrust ? '' : [...hints, HOW_FINGERPRINT].join('; ') } };
  }
}

/** Every wanted host is one of those that the place names. */
function isWithin(named: readonly Place[] | undefined, wanted: readonly Place[]): boolean {
  return wanted.every(({ host, port, tls }) => named?.some((each) => each.host === host && each.port === port && each.tls === tls) === true);
}

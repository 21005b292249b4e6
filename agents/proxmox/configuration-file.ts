import { yamlValue } from '../shared/cloud/yaml.ts';
import { listAt, textAt, member } from '../shared/web/web-client.ts';

/** One cluster of the configuration. */
export interface ConfiguredCluster {
  region: string | undefined;
  url: string;
  isInsecure: boolean;
  tokenId: string | undefined;
  tokenSecret: string | undefined;
  tokenIdFile: string | undefined;
  tokenSecretFile: string | undefined;
  username: string | undefined;
  password: string | undefined;
}

/** The `--cloud-config` of sergelogvinov/proxmox-cloud-controller-manager (docs/config.md), which its CSI driver reads too; undefined where it is none. */
export function configuredClusters(text: string): readonly ConfiguredCluster[] | undefined {
  const read = yamlValue(text);
  if (member(read, 'clusters') === undefined) return undefined;
  return listAt(read, 'clusters').map((cluster) => {
    const of = (name: string): string | undefined => {
      const value = textAt(cluster, name)?.trim();
      return value === '' ? undefined : value;
    };
    return {
      region: of('region'),
      url: of('url') ?? '',
      isInsecure: member(cluster, 'insecure') === true,
      tokenId: of('token_id'),
      tokenSecret: of('token_secret'),
      tokenIdFile: of('token_id_file'),
      tokenSecretFile: of('token_secret_file'),
      username: of('username'),
      password: of('password'),
    };
  });
}

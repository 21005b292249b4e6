import { hostname } from 'node:os';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { BindAddress } from '../http/bind-address.ts';
import { MetricsServer } from '../http/metrics-server.ts';
import type { MetricsServerOptions } from '../http/metrics-server.ts';
import { ServedCertificate } from '../http/served-certificate.ts';
import { TokenReviews } from '../http/token-reviews.ts';
import type { ApiTransport } from '../ports/api-transport.ts';
import { bindAddress } from './bind-address-option.ts';

export interface MetricsFlags {
  metricsAddress?: BindAddress;
  metricsCertificate?: string;
}

const PATH = '/metrics';

/** Off unless it is asked for: it takes the right to have tokens reviewed. */
export function withMetricsOptions(command: Command): Command {
  const address = 'address of /metrics over TLS, for whoever may get it by a bearer token of the cluster, such as :7408; default: none';
  const certificate = 'folder of its tls.crt and tls.key, read anew when they change; without them it makes a certificate of its own';
  return command
    .addOption(new Option('--metrics-address <host:port>', address).env('NODEFENCE_METRICS_ADDRESS').argParser(bindAddress))
    .addOption(new Option('--metrics-certificate <dir>', certificate).env('NODEFENCE_METRICS_CERTIFICATE'));
}

type Ports = Pick<MetricsServerOptions, 'scrape' | 'clock' | 'logger'> & { transport: ApiTransport };

/** Undefined where nobody asked for one. It starts by itself: nothing waits for it. */
export function metricsServer({ metricsAddress, metricsCertificate }: MetricsFlags, ports: Ports): MetricsServer | undefined {
  if (metricsAddress === undefined) return undefined;
  const { transport, ...given } = ports;
  const server = new MetricsServer({
    ...given,
    address: metricsAddress,
    certificate: new ServedCertificate(metricsCertificate, hostname()),
    reviews: new TokenReviews({ transport, clock: ports.clock, path: PATH }),
  });
  void server.start();
  return server;
}

import { fileURLToPath } from 'node:url';
import { automatonPage } from '../src/domain/automaton-page.ts';
import { fastDetectionPage } from '../src/domain/node-daemon/fast-detection-page.ts';
import { remediesPage } from '../src/domain/remedy/remedies-page.ts';
import { lawsPage } from '../src/laws/laws-page.ts';
import { manPages } from '../src/cli/manual/man-pages.ts';
import { chartFiles } from '../src/manifests/chart/chart-files.ts';
import { bundleFiles } from '../src/manifests/olm/bundle-files.ts';
import { MANIFEST_FILES, OPTIONAL_FILES } from '../src/manifests/installation.ts';
import { CLUSTER_FILES } from '../src/manifests/cluster-files.ts';
import { PATCHED_FILES } from '../src/manifests/node-daemonset-files.ts';
import { VERSION } from '../src/cli/version.ts';
import { renderManifest } from '../src/manifests/render.ts';
import { rightsPage } from '../src/manifests/rights-page.ts';
import { metricsPage } from '../src/telemetry/metrics-page.ts';
import { licencesPage } from './supply/licences-page.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface GeneratedFile {
  /** Relative to the root of the repository. */
  path: string;
  text: string;
}

/** Every committed file that is written from code; a test fails when one is stale. */
export async function generatedFiles(): Promise<GeneratedFile[]> {
  const manifests = [...MANIFEST_FILES, ...OPTIONAL_FILES, ...PATCHED_FILES, ...CLUSTER_FILES].map((file) => ({
    path: `config/${file.path}`,
    text: renderManifest(file),
  }));
  return [
    { path: 'docs/automaton.md', text: automatonPage() },
    { path: 'docs/fast-detection.md', text: fastDetectionPage() },
    { path: 'docs/licences.md', text: licencesPage(ROOT) },
    { path: 'docs/rights.md', text: rightsPage() },
    { path: 'docs/laws.md', text: lawsPage() },
    { path: 'docs/remedies-table.md', text: remediesPage() },
    { path: 'docs/metrics.md', text: metricsPage() },
    ...manifests,
    ...chartFiles(VERSION),
    ...bundleFiles(VERSION),
    ...(await manPages(VERSION)).map(({ file, text }) => ({ path: `man/${file}`, text })),
  ];
}

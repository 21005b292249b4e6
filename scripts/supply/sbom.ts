// `node scripts/supply/sbom.ts`: prints what the program is made of, as CycloneDX, from the lock file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { billOfMaterials } from './bill.ts';
import { lockedPackages } from './locked-packages.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const product = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Parameters<typeof billOfMaterials>[0];
process.stdout.write(billOfMaterials(product, lockedPackages(ROOT)));

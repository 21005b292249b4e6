import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const READER = fileURLToPath(new URL('../../../src/testbed/shipped/manifests.ts', import.meta.url));
const PLACE = /^const CONFIG = .*$/m;
const folder = process.env['NODEFENCE_GUARDS_FROM'];

/** Tests of guards with the folder of manifests that the environment names in the place of config/. */
export default defineConfig({
  root: ROOT,
  plugins: [
    {
      name: 'guards',
      enforce: 'pre',
      transform(code, id) {
        if (id !== READER || folder === undefined) return undefined;
        if (!PLACE.test(code)) throw new Error(`${READER} has no line that begins with "const CONFIG"; mend ${import.meta.filename}`);
        return { code: code.replace(PLACE, `const CONFIG = ${JSON.stringify(`${folder}/`)};`), map: null };
      },
    },
  ],
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 20_000,
    cache: false,
    // One test that notices is enough.
    bail: 1,
    fsModuleCache: false,
  },
});

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { broken, filesOf } from './source-mutant.ts';
import { MUTANT_VARIABLE, mutantNamed } from './mutants.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const name = process.env[MUTANT_VARIABLE];
const mutant = name === undefined ? undefined : mutantNamed(name);
const files = new Map(
  [...(mutant === undefined ? [] : filesOf(mutant))].map((file) => [fileURLToPath(new URL(`../../${file}`, import.meta.url)), file]),
);

/** Tests of the core with one defect in it. */
export default defineConfig({
  root: ROOT,
  plugins: [
    {
      name: 'mutant',
      enforce: 'pre',
      transform(code, id) {
        const file = files.get(id);
        return mutant === undefined || file === undefined ? undefined : { code: broken(mutant, file, code), map: null };
      },
    },
  ],
  test: {
    environment: 'node',
    include: ['src/**/*.test.ts', 'agents/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 20_000,
    cache: false,
    // A module with a defect must not be kept for anybody.
    fsModuleCache: false,
  },
});

import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { tests } from './scripts/test-rules.mjs';
import { HIDDEN_MEMBERS } from './scripts/private-rule.mjs';
import { COMPARING, INSTALLING, memoryRules, shippedRules } from './scripts/shipped-rules.mjs';
import { simulationRules, SIMULATED, NOT_SIMULATED } from './scripts/simulation-rules.mjs';

const TESTS = ['**/*.test.ts', 'test/**/*.ts'];
/** Programs whose output is the point: their stdout is written on purpose. */
const PROGRAMS = ['src/main.ts', 'src/cli/**', 'src/testbed/processes/**', 'test/**/main.ts', 'scripts/**'];

export default defineConfig(
  { ignores: ['dist/', 'coverage/', 'node_modules/', '.cache/', '.drill/'] },
  // A check is never switched off in the code it checks.
  { linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'off' } },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // `{ status: _status, ...rest }` leaves a member out; a parameter that a signature demands may go unused under `_`.
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true, argsIgnorePattern: '^_' }],
      // An implementation of a port may have nothing to wait for.
      '@typescript-eslint/require-await': 'off',
      // noPropertyAccessFromIndexSignature of the compiler asks for exactly what this rule forbids.
      '@typescript-eslint/dot-notation': 'off',
      // A seventh of all rules' time, for enums: the compiler allows none of our own (erasableSyntaxOnly).
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': true, 'ts-ignore': true, 'ts-nocheck': true }],
    },
  },
  {
    files: ['**/*.ts', '**/*.mjs'],
    rules: {
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-syntax': ['error', HIDDEN_MEMBERS],
      'no-empty': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'], location: 'anywhere' }],
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 70 }],
    },
  },
  { files: PROGRAMS, rules: { 'no-console': 'off' } },
  {
    files: TESTS,
    plugins: { tests },
    rules: {
      'tests/guarded': 'error',
      'tests/environment': 'error',
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      'no-restricted-properties': [
        'error',
        ...['it', 'test', 'describe'].map((object) => ({ object, property: 'only', message: 'a focused test hides all the others' })),
        ...['it', 'test', 'describe'].map((object) => ({ object, property: 'skip', message: 'skip by name and condition: describe.skipIf(...)' })),
      ],
    },
  },
  {
    // Its classes are only shapes: the library's own pages pass plain objects.
    files: ['test/conformance/client-node.test.ts'],
    rules: { '@typescript-eslint/no-unsafe-class-instance-assignment': 'off', '@typescript-eslint/no-misused-spread': 'off' },
  },
  { files: INSTALLING, rules: shippedRules },
  { files: INSTALLING, ignores: COMPARING, rules: memoryRules },
  { files: SIMULATED, ignores: NOT_SIMULATED, rules: simulationRules },
);

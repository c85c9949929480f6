/** Tests run as ES modules (Nest 12 is ESM only); swc strips the types, `npm run typecheck` checks them. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  // Programs that fixtures were made of are no part of the tests.
  modulePathIgnorePatterns: ['/fixtures/programs/'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
  // Most tests wait for a server: both cores are kept busy by two of them.
  maxWorkers: '100%',
  testTimeout: 30_000,
};

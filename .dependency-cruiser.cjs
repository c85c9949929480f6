/**
 * The one way a line of data walks, as rules (docs/decisions/0001). `npm run arch` checks them, and so does `npm test`, where
 * test/architecture/rules.test.ts also breaks every one of them once. What a rule cannot see here, such as who reads process.env, is checked there.
 */
const NODE_CRYPTO = '^(node:)?crypto$';
const WIRING = '^src/(main|app\\.module|rebuild-worker)\\.ts$';

/** How an npm package looks once it is found, and when it is not. Types count: what only TypeScript sees is a dependency of the design too. */
const npm = (...names) => names.flatMap((name) => [`^node_modules/(@types/)?${name}/`, `^${name}(/|$)`]);

/** A folder that may know the named paths and nothing else at all: no other folder of ours, no npm package, no part of Node. */
const only = (name, folder, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: folder },
  to: { pathNot: [folder, ...allowed] },
});

const never = (name, from, to, comment) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    only('catalogue-imports-only-zod', '^src/catalogue/', npm('zod'), 'The language stands alone: everything else is said in it.'),
    only(
      'domain-imports-only-the-catalogue',
      '^src/domain/',
      ['^src/catalogue/', NODE_CRYPTO],
      'Rules are pure functions: time, ids and token counts are handed in. createHash is the one thing they may take from Node.',
    ),
    only(
      'verifier-imports-only-the-catalogue',
      '^src/verifier/',
      ['^src/catalogue/', NODE_CRYPTO, 'node_modules/saxes/'],
      'Text in, verdict out. saxes reads the XML of test reports: text in, events out.',
    ),
    only('projections-import-only-the-catalogue', '^projections/', ['^src/catalogue/'], 'A read model does not know where its rows live.'),

    never(
      'application-never-looks-outward',
      { path: '^src/application/' },
      { path: ['^src/(adapters|http|embedded)/', WIRING] },
      'The flow speaks to the world through src/application/ports.ts; what is behind a port is chosen by the wiring.',
    ),
    never(
      'adapters-know-ports-and-catalogue',
      { path: '^src/adapters/' },
      {
        path: '^(src|projections)/',
        pathNot: ['^src/adapters/', '^src/catalogue/', '^src/application/(ports|timing)\\.ts$', '^projections/projection\\.ts$'],
      },
      'An adapter fulfils a port (or keeps the rows of a projection). It has no say in the flow, in HTTP, or in who wires it.',
    ),
    never(
      'adapters-never-each-other',
      { path: '^src/adapters/([^/]+)' },
      { path: '^src/adapters/', pathNot: '^src/adapters/$1/' },
      'One vendor a folder: each can be replaced without opening the others.',
    ),
    never(
      'embedded-stands-alone',
      { path: '^src/embedded/' },
      { path: '^(src|projections)/', pathNot: ['^src/embedded/', '^src/config\\.ts$'] },
      'A stand-in for a server knows of Anvil what a server would know: nothing. Its entry processes may read the configuration.',
    ),
    never(
      'http-never-imports-what-is-behind-ports',
      { path: '^src/http/' },
      { path: '^src/(adapters|embedded)/' },
      'Controllers send commands and queries; they do not know which stores there are.',
    ),
    never(
      'only-the-wiring-picks-stores',
      { path: '^(src|projections)/', pathNot: [WIRING, '^src/(application|http|adapters|embedded)/'] },
      { path: '^src/(adapters|embedded)/' },
      'main.ts, app.module.ts and rebuild-worker.ts are the only places that name an adapter or a stand-in; rules of their own tell it to application and http.',
    ),
    never(
      'nobody-imports-the-wiring',
      { path: '^(src|projections)/', pathNot: WIRING },
      { path: WIRING },
      'The wiring is where the arrows start. Nothing points back at it.',
    ),

    never(
      'eventstore-client-has-one-home',
      { path: '^(src|projections)/', pathNot: '^src/(adapters/eventstoredb|embedded)/' },
      { path: npm('@eventstore') },
      'The client, and its defects, stay in one adapter. The embedded node uses its service definitions.',
    ),
    never(
      'pg-has-one-home',
      { path: '^(src|projections)/', pathNot: '^src/(adapters/postgres|embedded)/' },
      { path: npm('pg', 'pg-[^/]+') },
      'SQL stays in one adapter and in what stands in for a server.',
    ),
    never(
      'grpc-has-one-home',
      { path: '^(src|projections)/', pathNot: '^src/(adapters/eventstoredb|embedded)/' },
      { path: npm('@grpc', 'google-protobuf') },
      'The wire is the business of the embedded node and of the client that speaks to it.',
    ),

    never(
      'no-dev-dependency-in-the-product',
      { path: '^(src|projections)/' },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
      'What runs in production is declared in dependencies, or a production install lacks it.',
    ),
    never(
      'no-test-code-in-the-product',
      { path: '^(src|projections)/' },
      { path: '^(test|bench|examples)/' },
      'Tests, benchmarks and examples use the product, not the other way round.',
    ),
    never(
      'no-unresolvable',
      { path: '^(src|projections)/' },
      { couldNotResolve: true },
      'An import that is not found hides what it would have told the other rules.',
    ),
    never('no-circular', {}, { circular: true }, 'Also of types alone: two files that need each other are one file, or three.'),
    never('no-orphans', { path: '^(src|projections)/', orphan: true }, {}, 'A file that nothing uses and that uses nothing is left over.'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Imports of types count, hence before the compiler drops them.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types', 'typings'],
    },
  },
};

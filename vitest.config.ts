import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { ownProcess } from './test/own-process.ts'

// The development build that vitest would pick by its conditions is another instance than the one that yoga gets from Node.
const graphql = fileURLToPath(import.meta.resolve('graphql'))

const alone = ownProcess.map((place) => (place.endsWith('/') ? `${place}**/*.test.ts` : place))

// Every process of the tests compiles the same modules, and so do the programs that they start: once is enough.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('.cache/compiled', import.meta.url))

export default defineConfig({
  resolve: {
    conditions: ['informerql-source'],
    alias: [{ find: /^graphql$/, replacement: graphql }],
  },
  ssr: { resolve: { conditions: ['informerql-source'] } },
  test: {
    globalSetup: ['test/generated-files.ts'],
    // A machine that is busy with other things must not fail what is merely late.
    testTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 180_000,
    // One more than CI has cores: many tests wait for something most of their time.
    maxWorkers: 3,
    projects: [
      // In the order of their names, so that the long ones come first.
      { extends: true, test: { name: 'alone', include: alone } },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: alone,
          isolate: false,
        },
      },
    ],
  },
})

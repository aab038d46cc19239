import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// The development build that vitest would pick by its conditions is another instance than the one that yoga gets from Node.
const graphql = fileURLToPath(import.meta.resolve('graphql'))
const executor = 'graphql/execution/ExecutorThrowingOnIncremental'

export default defineConfig({
  resolve: {
    conditions: ['informerql-source'],
    alias: [
      { find: /^graphql$/, replacement: graphql },
      { find: executor, replacement: fileURLToPath(import.meta.resolve(executor)) },
    ],
  },
  ssr: { resolve: { conditions: ['informerql-source'] } },
  test: {
    include: ['test/**/*.test.ts'],
    // A machine that is busy with other things must not fail what is merely late.
    testTimeout: 180_000,
    expect: { poll: { timeout: 25_000 } },
    hookTimeout: 180_000,
    // One more than CI has cores: many tests wait for something most of their time.
    maxWorkers: 3,
  },
})

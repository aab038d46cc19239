import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { conditions: ['informerql-source'] },
  ssr: { resolve: { conditions: ['informerql-source'] } },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
})

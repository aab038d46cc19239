import { runSeed, seededRandom } from '../support/random.ts'
import type { ServedGateway } from '../support/gateway.ts'
import { sameForAllTests } from '../support/served-simulator.ts'
import { RandomCluster } from './random-cluster.ts'

/** Objects that are edited at random, and a gateway to them. */
export interface ServedRandomCluster {
  readonly cluster: RandomCluster
  readonly gateway: ServedGateway
}

/** One for all tests of a suite; `edits`: how many there have been before the first of them. */
export function randomClusterForTests(edits: number): ServedRandomCluster {
  let cluster: RandomCluster | undefined
  const served = sameForAllTests({
    simulator: {
      bookmarkIntervalMs: 0,
      populate(storage) {
        cluster = new RandomCluster(storage, seededRandom(runSeed))
        cluster.edit(edits)
      },
    },
  })
  return {
    get cluster() {
      if (cluster === undefined) throw new Error('it is there while a test runs')
      return cluster
    },
    get gateway() {
      return served.gateway
    },
  }
}

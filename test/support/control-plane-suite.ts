import { afterAll, beforeAll, describe, it } from 'vitest'
import {
  type ControlPlane,
  type ControlPlaneOptions,
  findControlPlane,
  startControlPlane,
} from './control-plane.ts'

/**
 * A suite against a genuine kube-apiserver and etcd, started before its first test and ended after its last. The plane
 * is there once tests run, not while they are being declared. Where there is none, the suite is one skipped test that
 * says why, or an error with `REQUIRE_REAL_CLUSTER=1`.
 */
export const describeWithControlPlane = (
  name: string,
  body: (plane: () => ControlPlane) => void,
  options: ControlPlaneOptions = {},
): void => {
  const found = findControlPlane()
  describe(name, () => {
    if ('missing' in found) {
      it.skip(`no real control plane: ${found.missing}`)
      return
    }
    let plane: ControlPlane | undefined
    beforeAll(async () => {
      plane = await startControlPlane({ binDir: found.binDir, ...options })
    }, 150_000)
    afterAll(async () => plane?.[Symbol.asyncDispose](), 30_000)
    body(() => {
      if (plane === undefined) throw new Error('the control plane starts before the first test')
      return plane
    })
  })
}

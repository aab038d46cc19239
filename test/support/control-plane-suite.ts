import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type ControlPlane,
  type ControlPlaneOptions,
  findControlPlane,
  startControlPlane,
} from './control-plane.ts'

type SuiteBody = (plane: () => ControlPlane) => void

const startDeadlineMs = 150_000
const stopDeadlineMs = 30_000

const skippedSuite = (name: string, reason: string): void => {
  it(`${name}, on a real API server: skipped, ${reason}`, { skip: true }, () => {
    expect.fail(reason)
  })
}

/** What a suite needs of its plane. */
export interface PlaneOptions extends ControlPlaneOptions {
  /**
   * Whether further suites of the process that ask for it, with no other options, have the same plane, one after the other: with
   * what the suites before it have left in it. It ends with the process.
   */
  readonly isShared?: boolean
}

let shared: Promise<ControlPlane> | undefined

const livingSuite = (
  name: string,
  body: SuiteBody,
  { isShared = false, ...options }: PlaneOptions,
): void => {
  let plane: ControlPlane | undefined
  describe(`${name}, on a real API server`, () => {
    beforeAll(async () => {
      plane = await (isShared
        ? (shared ??= startControlPlane(options))
        : startControlPlane(options))
    }, startDeadlineMs)
    afterAll(async () => (isShared ? undefined : plane?.[Symbol.asyncDispose]()), stopDeadlineMs)
    body(() => {
      if (plane === undefined) throw new Error('the control plane starts before the first test')
      return plane
    })
  })
}

/**
 * A suite against a genuine kube-apiserver and etcd (and kube-controller-manager, where `controllers` asks for it), started before its first test and ended after its last. The plane
 * is there once tests run, not while they are being declared. Where there is none, the suite is one skipped test that
 * says why, or an error with `REQUIRE_REAL_CLUSTER=1`.
 */
export const describeWithControlPlane = (
  name: string,
  body: SuiteBody,
  options: PlaneOptions = {},
): void => {
  const found = findControlPlane(options)
  return 'missing' in found
    ? skippedSuite(name, found.missing)
    : livingSuite(name, body, { binDir: found.binDir, ...options })
}
